import { type Heads, headsOf } from './heads/dispute-heads.ts';
import { type Hunk, type Labels, mapVersions, splitLines } from './lines/lines.ts';
import { renderConflicts } from './markers.ts';
import { mergeLines } from './merge-lines.ts';
import { type Format, formatOf } from './syntax/language.ts';
import { mergeWhole, type Versions } from './versions.ts';

/** A merged text, with markers where `conflicts`, the number of places in dispute, is not 0. */
export type MergedText = { readonly text: string; readonly conflicts: number };

/**
 * `path` names the file that the texts are versions of, and by its extension their language;
 * `labels` what the markers call them.
 */
export type MergeTextOptions = { readonly path?: string; readonly labels?: Labels };

/**
 * Merges two edits of one text, line by line, and by syntax where `path` tells of one. Never
 * throws, whatever the texts hold.
 *
 * Where the edits meet, the text carries all three versions between markers in git's diff3 style;
 * `parseConflicts` reads them back.
 */
export function mergeText(
  versions: Versions<string>,
  { path, labels = labelsFor(path) }: MergeTextOptions = {},
): MergedText {
  const merged = mergeTexts(versions, formatOf(path), headsOf(path));
  if (merged.kind === 'clean') return { text: merged.text, conflicts: 0 };
  const conflicts = merged.hunks.filter((hunk) => hunk.kind === 'conflict').length;
  return { text: renderConflicts(merged.hunks, labels).text, conflicts };
}

function labelsFor(path: string | undefined): Labels {
  const suffix = path === undefined ? '' : `: ${path}`;
  return { base: `base${suffix}`, ours: `ours${suffix}`, theirs: `theirs${suffix}` };
}

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
