import { APICallError } from 'ai';
import type { Prompt } from '../conversation/summary.ts';
import { isTooLong } from '../conversation/too-long.ts';

/** The most pictures in one request: the ten largest ones take half of what a request may hold. */
export const MOST_PICTURES = 10;
/** Every usual server that takes pictures takes so many. */
const TAKEN_BY_ALL = 4;
/** Answers by which servers refuse what a request holds. */
const REFUSALS = [400, 404, 413, 415, 422];

/**
 * Returns the number of pictures to send if a model's server may have refused a call because of its pictures; null if
 * it had another reason. Many models see none, others only a few, and their servers have no common error for it.
 */
export function fewerPictures(error: unknown, sent: Prompt): number | null {
  const count = sent.reduce((sum, { content }) => sum + filesIn(content), 0);
  if (count === 0 || !APICallError.isInstance(error)) return null;
  const { statusCode = 0 } = error;
  if (!REFUSALS.includes(statusCode) || (statusCode !== 413 && isTooLong(error))) return null;
  return count > TAKEN_BY_ALL ? TAKEN_BY_ALL : 0;
}

/** Returns a prompt with the newest pictures, and a note in place of each other one. */
export function withNewest(prompt: Prompt, most: number): Prompt {
  const note = most === 0 ? REFUSED : LEFT_OUT;
  let left = most;
  const newestFirst = prompt.toReversed().map((message) => {
    if (message.role !== 'user' || filesIn(message.content) === 0) return message;
    const parts = message.content.toReversed().map((part) => {
      if (!isFile(part)) return part;
      left -= 1;
      return left < 0 ? note : part;
    });
    return { ...message, content: parts.reverse() };
  });
  return newestFirst.reverse();
}

const REFUSED = noteOf('You cannot see this picture: the server of this model has refused it.');
const LEFT_OUT = noteOf('This picture is not shown: newer ones are as many as can be at once.');

function noteOf(text: string) {
  return { type: 'text', text: `[${text}]` } as const;
}

function filesIn(content: Prompt[number]['content']): number {
  return typeof content === 'string' ? 0 : content.filter(isFile).length;
}

/** Tells whether a part of a message is a file. */
export function isFile(part: unknown): boolean {
  const { type, mediaType } = Object(part);
  return type === 'file' && typeof mediaType === 'string';
}
