import { APICallError } from 'ai';
import { shortened } from '../../src/lib/graphemes.ts';
import { TooManyCalls } from './bounded-calls.ts';

const MAX_CHARS = 300;

/** Returns why the model did not answer, in a sentence. */
export function modelFault(error: unknown): string {
  if (APICallError.isInstance(error) || error instanceof TooManyCalls) return error.message;
  if (/without a finish reason/.test(String(error))) {
    return "The model's answer ended before it was done. Try again, or choose another model with `/model`.";
  }
  // The model's answer does not fit the provider's protocol, or its stream broke off.
  const why = error instanceof Error ? error.message : String(JSON.stringify(error));
  return `The model's answer could not be read: ${short(why)}`;
}

/** The libraries repeat what they could not read, whole: it has to fit into a line of the chat, and into a frame. */
function short(text: string): string {
  const line = text.slice(0, 2_000).replace(/[\s\p{Cc}]+/gu, ' ');
  return shortened(line, MAX_CHARS);
}
