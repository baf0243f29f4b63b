import { type Heads, headsOf } from './heads/dispute-heads.ts';
import { type Hunk, type Labels, mapVersions, splitLines } from './lines/lines.ts';
import { renderConflicts } from './markers.ts';
import { mergeLines } from './merge-lines.ts';
import { type Format, formatOf } from './syntax/language.ts';
import { mergeWhole, type Versions } from './versions.ts';

/** A merged text. It has markers if `conflicts`, the number of disputed places, is not 0. */
export type MergedText = { readonly text: string; readonly conflicts: number };

/** `path` names the file, and by its extension the language. `labels` are the names in conflict markers. */
export type MergeTextOptions = { readonly path?: string; readonly labels?: Labels };

/**
 * Merges two edits of one text line by line, and by syntax if `path` names a known language. Never throws, whatever
 * the texts contain.
 *
 * At a conflict, the text carries all three versions between markers in git's diff3 style; `parseConflicts` reads
 * them back.
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
 * Merges two edits of one text. Bytes pass unharmed if they are read and written as latin1.
 *
 * `format` lets layout and syntax decide where lines do not, and checks the result; null merges by lines only. Holds
 * to the byte: if one side is the base, the result is the other side; equal sides give that text.
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
