import { splitLines } from '@patchclaw/merge';
import { z } from 'zod';
import type { Conflict } from '../conflict.ts';
import type { DataOf } from '../contract/result.ts';
import { ClawError } from '../errors.ts';
import type { ModelReply } from '../operation/context.ts';

const Reply = z.union([
  z.strictObject({ hunks: z.array(z.string()) }),
  z.strictObject({ value: z.json() }),
  z.strictObject({ side: z.enum(['ours', 'theirs']) }),
  z.strictObject({ give_up: z.string() }),
]);

/** A choice of a model's: one that `resolve` takes as well. */
export type ProposedChoice = NonNullable<DataOf<'resolve'>['proposals']>[number]['choice'];

/**
 * Reads what a model answered to `promptFor`: text for exactly the hunks of that conflict, or a value,
 * or a side, and nothing else.
 *
 * @throws ClawError MODEL_REFUSED with what is wrong with it
 */
export function readProposal(conflict: Conflict, { text, model }: ModelReply): ProposedChoice {
  const refuse = (reason: string) => refused(conflict, model, reason);
  const reply = Reply.safeParse(parseJson(withoutFence(text))).data;
  if (reply === undefined) throw refuse('what it answered is not the JSON that was asked for');
  if ('give_up' in reply) throw refuse(`it gave up: ${reply.give_up.slice(0, 500)}`);
  if (conflict.values !== null) {
    if (!('value' in reply)) throw refuse('it gave no value');
    return { kind: 'value', value: reply.value, origin: model };
  }
  if (conflict.hunks.length === 0) {
    if (!('side' in reply)) throw refuse('it chose no side');
    return { kind: reply.side, origin: model };
  }
  if (!('hunks' in reply)) throw refuse('it gave no lines');
  const open = conflict.hunks.filter(({ kind }) => kind === 'conflict');
  if (reply.hunks.length !== open.length) {
    throw refuse(`it gave lines for ${reply.hunks.length} hunks of ${open.length}`);
  }
  if (reply.hunks.some((lines) => lines.includes('\0'))) throw refuse('its lines are no text');
  const at = reply.hunks.findIndex((lines, index) => repeatsSurroundings(conflict, lines, index));
  if (at !== -1) throw refuse(`what it gave for hunk ${at + 1} repeats the lines around it`);
  return { kind: 'picks', picks: reply.hunks.map((lines) => ({ text: lines })), origin: model };
}

/** Returns a model's answer that came to nothing. */
export function refused({ path }: Conflict, model: string, reason: string): ClawError {
  return new ClawError(
    'MODEL_REFUSED',
    `${model} did not resolve ${path}: ${reason}. Nothing was decided; try again, or resolve it by hand.`,
    { path, data: { model } },
  );
}

/** Tells whether an answer repeats lines right before or after the hunk that the sides do not have. */
function repeatsSurroundings({ hunks }: Conflict, text: string, index: number): boolean {
  const places = hunks.flatMap((hunk, at) => (hunk.kind === 'conflict' ? [at] : []));
  const place = places[index] ?? 0;
  const [hunk, before, behind] = [hunks[place], hunks[place - 1], hunks[place + 1]];
  if (hunk?.kind !== 'conflict') return false;
  const given = splitLines(Buffer.from(text).toString('latin1')).map((line) => line.trimEnd());
  const known = [...hunk.base, ...hunk.ours, ...hunk.theirs].map((line) => line.trimEnd());
  const repeats = (lines: readonly string[], present: readonly string[]) =>
    lines.length > 0 &&
    lines.every((line, at) => line.trimEnd() === present[at]) &&
    lines.some((line) => /\w/.test(line) && !known.includes(line.trimEnd()));
  const head = before?.kind === 'resolved' ? before.lines.slice(-2) : [];
  const tail = behind?.kind === 'resolved' ? behind.lines.slice(0, 2) : [];
  return (
    repeats(head, given.slice(0, head.length)) ||
    repeats(tail, tail.length > 0 ? given.slice(-tail.length) : [])
  );
}

// Some models cannot but fence what they write; the fence says nothing.
function withoutFence(text: string): string {
  return /^\s*```(?:json)?\n([\s\S]*)\n```\s*$/.exec(text)?.[1] ?? text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Refused by the schema, as anything else that is no object.
    return undefined;
  }
}
