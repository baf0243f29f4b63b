import { type ModelMessage, modelMessageSchema } from 'ai';
import { z } from 'zod';

/** A message and its line of the transcript, from 0. */
export type TranscriptEntry = { readonly line: number; readonly message: ModelMessage };

/** A conversation as far as the model is shown it. */
export type Transcript = {
  /** The summary of earlier messages; null where `said` is all. */
  readonly summary: string | null;
  readonly said: readonly TranscriptEntry[];
  /** The size of the conversation, as the model counted at the end of the last turn; null when unknown. */
  readonly tokens: number | null;
  /** The number of lines of the transcript. */
  readonly lines: number;
};

export const NOTHING_SAID: Transcript = { summary: null, said: [], tokens: null, lines: 0 };

/** Notes of a transcript beside messages: the summary of those before line `from`, and the size. */
export type Note =
  | { readonly kind: 'summary'; readonly from: number; readonly text: string }
  | { readonly kind: 'size'; readonly tokens: number };

const Summary = z.object({ kind: z.literal('summary'), from: z.int().min(0), text: z.string() });
const Size = z.object({ kind: z.literal('size'), tokens: z.int().min(0) });

/** Reads a transcript, from the end of its last summary on. */
export function parseTranscript(text: string): Transcript {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const summary = lastSummary(lines);
  const from = summary?.from ?? 0;
  const said: TranscriptEntry[] = [];
  for (const [at, line] of lines.slice(from).entries()) {
    if (isNote(line)) {
      // The size is written behind a whole turn.
      endWithAnswer(said);
      continue;
    }
    const message = modelMessageSchema.safeParse(parseJson(line)).data;
    if (message === undefined) dropBroken(said);
    else if (message.role !== 'tool' || answersCall(said, message)) {
      if (message.role !== 'tool') dropCall(said);
      said.push({ line: from + at, message });
    }
  }
  dropCall(said);
  // A question that was cut off from its answer is asked again.
  while (said.at(-1)?.message.role === 'user') said.pop();
  endWithAnswer(said);
  const size = Size.safeParse(parseJson(lines.at(-1) ?? '')).data;
  return {
    summary: summary?.text ?? null,
    said,
    tokens: size?.tokens ?? null,
    lines: lines.length,
  };
}

function lastSummary(lines: readonly string[]): z.output<typeof Summary> | undefined {
  for (const line of lines.toReversed()) {
    const summary = isNote(line) ? Summary.safeParse(parseJson(line)).data : undefined;
    if (summary !== undefined) return summary;
  }
  return undefined;
}

function isNote(line: string): boolean {
  return line.startsWith('{"kind"');
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    // A line that a crash cut short.
    return null;
  }
}

/**
 * Drops a turn that a crash cut short while it was written. It is asked again as a whole: its remains would
 * be said twice, and models refuse calls without results.
 */
function dropBroken(said: TranscriptEntry[]): void {
  const last = said.at(-1)?.message;
  if (last === undefined || (last.role === 'assistant' && !callsTool(last))) return;
  said.length = Math.max(
    0,
    said.findLastIndex(({ message }) => message.role === 'user'),
  );
}

/** Drops the same turn, cut between two lines: a call of its last step has no result. */
function dropCall(said: TranscriptEntry[]): void {
  const at = said.findLastIndex(({ message }) => message.role !== 'tool');
  const calling = said[at]?.message;
  if (calling?.role !== 'assistant' || !callsTool(calling)) return;
  const results = new Set(
    said.slice(at + 1).flatMap(({ message }) => idsIn(message, 'tool-result')),
  );
  if (idsIn(calling, 'tool-call').some((id) => !results.has(id))) dropBroken(said);
}

/** Tells whether the results of a message are those of calls right before it. */
function answersCall(said: readonly TranscriptEntry[], results: ModelMessage): boolean {
  const calling = said.findLast(({ message }) => message.role !== 'tool')?.message;
  const calls = calling === undefined ? [] : idsIn(calling, 'tool-call');
  return idsIn(results, 'tool-result').every((id) => calls.includes(id));
}

/**
 * Puts an answer behind a turn that ends with results of tools. Within a turn a message may follow them: it was said while
 * the agent worked.
 */
function endWithAnswer(said: TranscriptEntry[]): void {
  const last = said.at(-1);
  if (last?.message.role === 'tool') said.push({ line: last.line, message: ENDED });
}

const ENDED: ModelMessage = { role: 'assistant', content: '(ended without a word)' };

function idsIn({ content }: ModelMessage, type: 'tool-call' | 'tool-result'): readonly string[] {
  if (typeof content === 'string') return [];
  return content.flatMap((part) =>
    part.type === type && 'toolCallId' in part ? [part.toolCallId] : [],
  );
}

function callsTool({ content }: ModelMessage): boolean {
  return typeof content !== 'string' && content.some(({ type }) => type === 'tool-call');
}
