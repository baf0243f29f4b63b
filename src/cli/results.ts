import type { DiscoveredResult, ResultWith } from '@patchclaw/claw/cli';
import type { AnswerEnd } from '../lib/answer-end.ts';

/** The assistant's answers to what was said; `end` says why something has none. */
export type Answers = { readonly answers: readonly string[]; readonly end: AnswerEnd };

export type ChatResult = ResultWith<'chat', Answers | null>;

/** The result of a set-up step: what works now, in a few sentences, and the data for programs. */
export type SetupResult = ResultWith<'setup', { readonly summary: string }>;

/** Adds to a result what it prints for people. */
export function withLines(
  result: ResultWith<string, unknown>,
  lines: readonly string[],
): DiscoveredResult {
  return { ...result, lines };
}
