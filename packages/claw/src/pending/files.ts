import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasMarkers, markerOf, type Rendered, renderConflicts, splitLines } from '@patchclaw/merge';
import { stringify } from 'yaml';
import { disputesOf } from '../compose/answer.ts';
import { type Conflict, conflictFile } from '../conflict.ts';
import { digestBytes } from '../digest.ts';

/**
 * Lays one conflict out for people: `<path>.base`, `.ours`, `.theirs`, the intent notes as
 * `<path>.intent.md`, and `<path>` itself with markers, to be edited; of a structured conflict the
 * three values.
 */
export function layOutConflict(folder: string, conflict: Conflict, notes: string | null): void {
  const { sides, values } = conflict;
  const target = join(folder, placeOf(conflict));
  mkdirSync(dirname(target), { recursive: true });
  if (notes !== null) writeFileSync(join(folder, notesPath(conflict)), notes);
  for (const side of ['base', 'ours', 'theirs'] as const) {
    const file = sides[side];
    if (values !== null) writeFileSync(`${target}.${side}`, stringify(values[side] ?? null));
    else if (file) writeFileSync(`${target}.${side}`, file.bytes);
  }
  const marked = markedText(conflict);
  if (marked !== null) writeFileSync(target, marked);
}

/** Returns the path of a conflict's intent notes, below the folder of the waiting operation. */
export function notesPath(conflict: Conflict): string {
  return `${placeOf(conflict)}.intent.md`;
}

const KEY_LENGTH = 120;

/** Returns the path of a conflict as that of a file: a key may hold anything, and must not lead elsewhere. */
function placeOf(conflict: Conflict): string {
  if (conflict.values === null) return conflict.path;
  const file = conflictFile(conflict);
  const key = conflict.path.slice(file.length + 1);
  const plain = key.replace(
    /[^\w.@+-]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  const short =
    plain.length <= KEY_LENGTH
      ? plain
      : `${plain.slice(0, KEY_LENGTH)}-${digestBytes(key).slice(7, 15)}`;
  return `${file}#${short}`;
}

/** Returns the text with markers, or null for a conflict that has no lines. */
export function markedText(conflict: Conflict): Buffer | null {
  const marked = render(conflict);
  return marked && Buffer.from(marked.text, 'latin1');
}

/** Tells whether any line of a finished text is still one that {@link markedText} put there. */
export function leftMarkers(conflict: Conflict, finished: Buffer): boolean {
  const text = finished.toString('latin1');
  const marked = render(conflict);
  if (hasMarkers(text) || marked === null) return hasMarkers(text);
  const markers = new Set(
    splitLines(marked.text)
      .filter((line) => markerOf(line, marked.markerSize) !== null)
      .map((line) => line.trimEnd()),
  );
  return splitLines(text).some((line) => markers.has(line.trimEnd()));
}

function render(conflict: Conflict): Rendered | null {
  const labels = disputesOf(conflict).map(({ layers: [ours, theirs] }) => ({
    base: 'base',
    ours,
    theirs,
  }));
  return conflict.hunks.length === 0 ? null : renderConflicts(conflict.hunks, labels);
}
