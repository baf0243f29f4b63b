import { type LanguageModelMiddleware, streamText } from 'ai';
import { cutText } from '../../../src/lib/cut-text.ts';
import type { CallableModel } from '../model.ts';
import { isTooLong } from './too-long.ts';

/** Messages as a model is sent them. */
export type Prompt = Parameters<
  NonNullable<LanguageModelMiddleware['wrapStream']>
>[0]['params']['prompt'];
export type PromptMessage = Prompt[number];

export type SummaryParts = {
  readonly model: CallableModel;
  /** The messages to summarise, oldest first. */
  readonly older: Prompt;
  /** The summary of the messages before them; null for the first ones. */
  readonly before: string | null;
};

const HEAD = 'Summary of our conversation so far:';
/** The limit for the result of one tool call, in bytes. */
const MAX_RESULT_BYTES = 2_000;
const MAX_SUMMARY_TOKENS = 4_000;
/** Less than this is not cut in two any more, in characters. */
const SHORT = 4_000;

const TASK = [
  'You keep the memory of an assistant. You are given the older part of its conversation, which it will not see any more: only your summary.',
  'Write down all that it needs to go on as if it had seen it: what was asked and what came of it, facts about people and things, wishes, decisions, promises and open questions, names, numbers, dates, paths of files. Keep what an earlier summary says and is still true.',
  'Leave out greetings, and what was only tried on the way. Answer with the summary alone, in the language of the conversation.',
].join('\n\n');

/**
 * Lets the model summarise a part of a conversation: in one call, or in two of half the length if its server says
 * that one is too long.
 *
 * @returns text that begins with what it is
 * @throws whatever the call of the model does, and Error when it says nothing
 */
export async function summaryOf({ model, older, before }: SummaryParts): Promise<string> {
  return await summarise(model, before, older.map(textOf).join('\n\n'));
}

async function summarise(
  model: CallableModel,
  before: string | null,
  told: string,
): Promise<string> {
  try {
    return await ask(model, before === null ? told : `${before}\n\nSaid since then:\n\n${told}`);
  } catch (error) {
    if (!isTooLong(error) || told.length < SHORT) throw error;
    const middle = Math.ceil(told.length / 2);
    const first = await summarise(model, before, told.slice(0, middle));
    return await summarise(model, first, told.slice(middle));
  }
}

/** Asks with one text: calls of tools would have to be declared with the request. */
async function ask(model: CallableModel, prompt: string): Promise<string> {
  const { stream } = streamText({
    model,
    instructions: TASK,
    prompt,
    maxOutputTokens: MAX_SUMMARY_TOKENS,
    maxRetries: 1,
    onError: () => {},
  });
  let text = '';
  for await (const part of stream) {
    if (part.type === 'text-delta') text += part.text;
    else if (part.type === 'error') throw part.error;
  }
  if (text.trim() === '') throw new Error('The model gave no summary.');
  return `${HEAD}\n\n${text.replace(HEAD, '').trim()}`;
}

/** Returns a message as a line of a conversation, results of tools cut. */
export function textOf(message: PromptMessage): string {
  if (typeof message.content === 'string') return message.content;
  const parts = message.content.map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'tool-call') return `[calls ${part.toolName}: ${short(part.input)}]`;
    if (part.type === 'tool-result') return `[${part.toolName} gave: ${short(part.output)}]`;
    return part.type === 'file' ? '[a file]' : '';
  });
  return `${NAMES[message.role]}: ${parts.filter((part) => part !== '').join('\n')}`;
}

const NAMES = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const;

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const cut = cutText(text, MAX_RESULT_BYTES);
  return cut.isTruncated ? `${cut.text} … (cut)` : cut.text;
}
