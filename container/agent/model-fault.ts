import { APICallError } from 'ai';

/** Returns why the model did not answer, in a sentence. */
export function modelFault(error: unknown): string {
  if (APICallError.isInstance(error)) return error.message;
  // The model's answer does not fit the provider's protocol, or its stream broke off.
  if (error instanceof Error) return `The model's answer could not be read: ${error.message}`;
  return `The model's answer could not be read: ${JSON.stringify(error)}`;
}
