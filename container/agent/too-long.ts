import { APICallError } from 'ai';

/** Servers have no common code for it: Anthropic's and OpenAI's are followed by those of local ones. */
const WORDS =
  /prompt is too long|context_length_exceeded|maximum context length|context size|context window|context limit/i;

/** Whether the model's server refused a call because it is longer than the model's window. */
export function isTooLong(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  const { statusCode = 0, message, responseBody = '' } = error;
  return [400, 413].includes(statusCode) && WORDS.test(`${message} ${responseBody}`);
}
