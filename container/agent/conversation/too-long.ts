import { APICallError } from 'ai';

/** Servers have no common code for it: Anthropic's and OpenAI's are followed by those of local ones. */
const WORDS =
  /(prompt|input) is too long|context[ _](length|size|window|limit)|maximum prompt length|exceeds the maximum number of tokens/i;

/** Tells whether the model's server refused a call because it is longer than the model's window. */
export function isTooLong(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  const { statusCode = 0, message, responseBody = '' } = error;
  return statusCode === 413 || (statusCode === 400 && WORDS.test(`${message} ${responseBody}`));
}
