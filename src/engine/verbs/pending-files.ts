import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { Conflict } from '../conflict.ts';
import { renderConflicts } from '../merge/markers.ts';

/**
 * Lays one conflict out for people: `<path>.base`, `.ours`, `.theirs`, the intent notes as
 * `<path>.intent.md`, and `<path>` itself with markers, to be edited; of a structured conflict the
 * three values.
 */
export function layOutConflict(folder: string, conflict: Conflict, notes: string | null): void {
  const { path, sides, values } = conflict;
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  if (notes !== null) writeFileSync(`${target}.intent.md`, notes);
  for (const side of ['base', 'ours', 'theirs'] as const) {
    const file = sides[side];
    if (values !== null) writeFileSync(`${target}.${side}`, stringify(values[side] ?? null));
    else if (file) writeFileSync(`${target}.${side}`, file.bytes);
  }
  const marked = markedText(conflict);
  if (marked !== null) writeFileSync(target, marked);
}

/** The text with markers, or null for a conflict that has no lines. */
export function markedText({ hunks, layers }: Conflict): Buffer | null {
  if (hunks.length === 0) return null;
  const labels = { base: 'base', ours: layers[0], theirs: layers[1] };
  return Buffer.from(renderConflicts(hunks, labels).text, 'latin1');
}
