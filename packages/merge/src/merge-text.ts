import { headsOf } from './heads/dispute-heads.ts';
import type { Labels } from './lines/regions.ts';
import { renderConflicts } from './markers.ts';
import { formatOf } from './syntax/language.ts';
import { mergeTexts } from './text.ts';
import type { Versions } from './tree.ts';

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
