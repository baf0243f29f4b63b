import type { Heads } from './heads/dispute-heads.ts';
import { mapVersions, splitLines } from './lines/lines.ts';
import type { Hunk } from './lines/regions.ts';
import { mergeLines } from './merge.ts';
import type { Format } from './syntax/language.ts';
import { mergeWhole, type Versions } from './tree.ts';

/** A merged text, or the hunks of one that two sides disagree about. */
export type TextMerge =
  | { readonly kind: 'clean'; readonly text: string }
  | { readonly kind: 'conflict'; readonly hunks: readonly Hunk[] };

/**
 * Merges two edits of one text. Bytes pass unharmed when they are read and written as latin1.
 *
 * `format` lets layout and syntax decide where lines do not, and checks the result; null merges by
 * lines alone.
 * Holds to the byte: a side that is the base yields the other side, equal sides yield themselves.
 */
export function mergeTexts(
  versions: Versions<string>,
  format: Format | null = null,
  heads: Heads | null = null,
): TextMerge {
  const whole = mergeWhole(versions, (one, other) => one === other);
  if (whole !== null) return { kind: 'clean', text: versions[whole] };
  const hunks = mergeLines(mapVersions(versions, splitLines), format, heads);
  if (hunks.some((hunk) => hunk.kind === 'conflict')) return { kind: 'conflict', hunks };
  return { kind: 'clean', text: resolvedLines(hunks).join('') };
}

function resolvedLines(hunks: readonly Hunk[]): readonly string[] {
  return hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : []));
}
