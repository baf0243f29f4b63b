import { jsonWithin, USUAL_BOUNDS } from '../../lib/bounded-json.ts';
import type { Protocol } from '../protocol.ts';
import type { TokenCounts } from '../tokens.ts';

const MAX_PENDING = 8_388_608;
const EVENT_BOUNDS = { ...USUAL_BOUNDS, maxBytes: 3 * MAX_PENDING };
const MAX_EVENT = 262_144;
/** The length of a token, for estimates where the server reports no count. */
const BYTES_PER_TOKEN = 4;

const NO_TOKENS: TokenCounts = {
  inputTokens: 0,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
  outputTokens: 0,
};

export type UsageCounter = {
  write(chunk: Buffer): void;
  /**
   * Returns the tokens of the answer so far.
   *
   * The server reports all of them only at its end. Of an answer that broke off, the output is estimated
   * from its text, and the input, unless it was reported, is taken from `unreported`.
   */
  total(end: { readonly isWhole: boolean; readonly unreported: TokenCounts }): TokenCounts;
};

/**
 * Reads the token counts out of a model's answer while it passes by.
 *
 * Counts within one answer are running totals, which some servers repeat, so the largest of each
 * counts. What is longer than any real line or answer is passed over, never kept.
 *
 * @param isStream server-sent events; otherwise one JSON object
 * @param countsIn reads one event or object, as the model's provider tells its counts
 */
export function countUsage(isStream: boolean, countsIn: Protocol['countsIn']): UsageCounter {
  let seen: TokenCounts | null = null;
  let writtenBytes = 0;
  let pending = '';
  const read = (json: string) => {
    const found = readCounts(json, countsIn);
    if (found !== null) seen = larger(seen ?? NO_TOKENS, found);
    else writtenBytes += textBytesIn(json);
  };
  return {
    write(chunk) {
      const text = chunk.toString('latin1');
      // Only what is new is looked through: a server may send a long line a few bytes at a time.
      const ends = isStream ? text.split('\n') : [text];
      const rest = ends.pop() ?? '';
      for (const end of ends) {
        const line = pending + end;
        pending = '';
        if (line.startsWith('data:')) read(line.slice(5));
      }
      pending += rest;
      if (pending.length > MAX_PENDING) {
        writtenBytes += pending.length;
        pending = '';
      }
    },
    total({ isWhole, unreported }) {
      if (pending !== '') read(isStream ? pending.replace(/^data:/, '') : pending);
      pending = '';
      const written = Math.ceil(writtenBytes / BYTES_PER_TOKEN);
      if (seen === null) return { ...unreported, outputTokens: written };
      return isWhole ? seen : { ...seen, outputTokens: Math.max(seen.outputTokens, written) };
    },
  };
}

function readCounts(json: string, countsIn: Protocol['countsIn']): TokenCounts | null {
  // Most events are pieces of text: only those with a number are worth parsing.
  if (!/"\s*:\s*\d/.test(json)) return null;
  // A cut or foreign line carries no counts; the agent reads the same bytes and will complain.
  const value = jsonWithin(json, EVENT_BOUNDS);
  return value === undefined ? null : countsIn(value);
}

/** The strings in which servers send what the model writes. */
const TEXTS =
  /"(?:text|thinking|partial_json|content|reasoning_content|arguments)":\s*"((?:[^"\\]|\\.)*)/g;

function textBytesIn(json: string): number {
  // Longer than any event; matching it would take the time of the whole host.
  if (json.length > MAX_EVENT) return json.length;
  let bytes = 0;
  for (const [, text = ''] of json.matchAll(TEXTS)) bytes += text.length;
  return bytes;
}

function larger(one: TokenCounts, other: TokenCounts): TokenCounts {
  return {
    inputTokens: Math.max(one.inputTokens, other.inputTokens),
    cacheWriteTokens: Math.max(one.cacheWriteTokens, other.cacheWriteTokens),
    cacheReadTokens: Math.max(one.cacheReadTokens, other.cacheReadTokens),
    outputTokens: Math.max(one.outputTokens, other.outputTokens),
  };
}
