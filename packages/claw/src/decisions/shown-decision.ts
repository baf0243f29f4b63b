import { unifiedPatch } from '@patchclaw/merge';
import type { z } from 'zod';
import { answeredFile } from '../compose/answer.ts';
import type { Decision } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import type { ShownDecision as Schema } from '../contract/json.ts';
import type { Immutable } from '../contract/result.ts';

/** A decision for people: its origin, and the change that it makes of ours, or the value. */
export type ShownDecision = Immutable<z.output<typeof Schema>>;

/** Returns a decision as people read it. */
export function shownDecision(
  conflict: Conflict,
  { answer, origin, amended }: Decision,
): ShownDecision {
  if (answer.kind === 'value') return { origin, value: answer.value, patch: null };
  const { path, sides } = conflict;
  const file = answeredFile(conflict, answer);
  const after = file && amended ? { ...file, bytes: amended } : file;
  const { patch } = unifiedPatch({ path, before: sides.ours, after, movedFrom: null });
  return { origin, value: null, patch };
}
