import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import type { Conflict } from '../conflict.ts';
import { splitLines } from '../merge/lines.ts';
import { markerOf } from '../merge/marker-line.ts';
import { hasMarkers, type Rendered, renderConflicts } from '../merge/markers.ts';

/**
 * Lays one conflict out for people: `<path>.base`, `.ours`, `.theirs`, the intent notes as
 * `<path>.intent.md`, and `<path>` itself with markers, to be edited; of a structured conflict the
 * three values.
 */
export function layOutConflict(folder: string, conflict: Conflict, notes: string | null): void {
  const { path, sides, values } = conflict;
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true });
  if (notes !== null) writeFileSync(join(folder, notesPath(path)), notes);
  for (const side of ['base', 'ours', 'theirs'] as const) {
    const file = sides[side];
    if (values !== null) writeFileSync(`${target}.${side}`, stringify(values[side] ?? null));
    else if (file) writeFileSync(`${target}.${side}`, file.bytes);
  }
  const marked = markedText(conflict);
  if (marked !== null) writeFileSync(target, marked);
}

/** Where the intent notes of a conflict lie, below the folder of what waits. */
export function notesPath(path: string): string {
  return `${path}.intent.md`;
}

/** The text with markers, or null for a conflict that has no lines. */
export function markedText(conflict: Conflict): Buffer | null {
  const marked = render(conflict);
  return marked && Buffer.from(marked.text, 'latin1');
}

/** Whether any line of a finished text is still one that {@link markedText} put there. */
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

function render({ hunks, layers }: Conflict): Rendered | null {
  const labels = { base: 'base', ours: layers[0], theirs: layers[1] };
  return hunks.length === 0 ? null : renderConflicts(hunks, labels);
}
