import { APICallError } from 'ai';
import type { Prompt } from '../conversation/summary.ts';
import { isTooLong } from '../conversation/too-long.ts';

/** Answers by which servers refuse what a request holds. */
const REFUSALS = [400, 404, 415, 422];

/**
 * Tells whether a model's server may have refused a call for its pictures: many models see none, and their servers
 * have no common word for it.
 */
export function refusesPictures(error: unknown, prompt: Prompt): boolean {
  if (!APICallError.isInstance(error) || isTooLong(error)) return false;
  return REFUSALS.includes(error.statusCode ?? 0) && prompt.some(hasFile);
}

/** Returns a prompt with a note in place of each picture. */
export function blind(prompt: Prompt): Prompt {
  return prompt.map((message) => {
    if (message.role !== 'user' || !hasFile(message)) return message;
    return { ...message, content: message.content.map((part) => (isFile(part) ? NOTE : part)) };
  });
}

const NOTE = {
  type: 'text',
  text: '[You cannot see this picture: the server of this model has refused it.]',
} as const;

function hasFile({ content }: Prompt[number]): boolean {
  return typeof content !== 'string' && content.some(isFile);
}

/** Tells whether a part of a message is a file. */
export function isFile(part: unknown): boolean {
  const { type, mediaType } = Object(part);
  return type === 'file' && typeof mediaType === 'string';
}
