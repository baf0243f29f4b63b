import { contentOf, dominantTerminator, type Hunk, type Labels } from '../lines/lines.ts';
import { mergeFiles } from '../merge-files.ts';
import type { Versions } from '../versions.ts';

/** A merged file with the number of its conflicts; or `binary`, if both sides changed a binary file. */
export type MergedFile =
  | { readonly kind: 'merged'; readonly bytes: Buffer; readonly conflicts: number }
  | { readonly kind: 'binary' };

/** The form of a text with conflicts, as options of `git merge-file` name it. */
type ConflictForm = {
  readonly style: ConflictStyle;
  readonly favour: Favour;
  readonly labels: Labels;
  readonly markerSize: number;
};

/**
 * Merges three versions of a file as `git merge-file` does, with the engine's rules.
 *
 * @param path its extension tells the language; what is none merges by lines alone
 */
export function mergeFile(
  { base, ours, theirs }: Versions<Buffer>,
  path: string,
  form: ConflictForm,
): MergedFile {
  // Git hands over an empty base where both sides added the file. Two beginnings are never joined by a guess.
  const isAdded = base.length === 0 && ours.length > 0 && theirs.length > 0;
  const versions = {
    base: isAdded ? null : fileOf(base),
    ours: fileOf(ours),
    theirs: fileOf(theirs),
  };
  const merge = mergeFiles(versions, { path });
  if (merge.kind === 'clean') {
    return { kind: 'merged', bytes: merge.file?.bytes ?? Buffer.alloc(0), conflicts: 0 };
  }
  const { hunks } = merge;
  if (hunks.length === 0) return { kind: 'binary' };
  const open = hunks.filter((hunk) => hunk.kind === 'conflict').length;
  return {
    kind: 'merged',
    bytes: Buffer.from(renderForGit(hunks, form), 'latin1'),
    conflicts: form.favour === null ? open : 0,
  };
}

function fileOf(bytes: Buffer) {
  return { bytes, isExecutable: false };
}

/** Styles of conflict that git writes: without the base, with it, or with it and equal edges taken out. */
export type ConflictStyle = 'merge' | 'diff3' | 'zdiff3';

/** The side that decides each conflict; null leaves it open. */
export type Favour = 'ours' | 'theirs' | 'union' | null;

type Conflict = Extract<Hunk, { kind: 'conflict' }>;

/**
 * Writes hunks as git writes them: markers of the size asked for, labels as given, and nothing else.
 *
 * Unlike `renderConflicts` this form cannot be read back for certain: git's tools expect it so.
 */
function renderForGit(hunks: readonly Hunk[], form: ConflictForm): string {
  const lines = hunks.flatMap((hunk) =>
    hunk.kind === 'resolved' ? hunk.lines : [...hunk.base, ...hunk.ours, ...hunk.theirs],
  );
  const end = dominantTerminator(lines) || '\n';
  const last = hunks.length - 1;
  return hunks
    .map((hunk, index) => {
      if (hunk.kind === 'resolved') return hunk.lines.join('');
      if (form.favour === null) return renderConflict(hunk, form, end);
      return favoured(hunk, form.favour, { end, isLast: index === last });
    })
    .join('');
}

function renderConflict(conflict: Conflict, form: ConflictForm, end: string): string {
  const { style, labels, markerSize } = form;
  const { before, ours, theirs, after } =
    style === 'diff3' ? { before: [], ...conflict, after: [] } : withoutEqualEdges(conflict);
  const marker = (character: string, label: string) =>
    character.repeat(markerSize) + (label === '' ? '' : ` ${label}`) + end;
  const base = style === 'merge' ? '' : marker('|', labels.base) + closed(conflict.base, end);
  return [
    before.join(''),
    marker('<', labels.ours) + closed(ours, end),
    base,
    marker('=', '') + closed(theirs, end),
    marker('>', labels.theirs),
    after.join(''),
  ].join('');
}

/** Takes the lines out of a conflict with which both sides begin, and those with which both end. */
function withoutEqualEdges({ ours, theirs }: Conflict) {
  const most = Math.min(ours.length, theirs.length);
  let head = 0;
  while (head < most && ours[head] === theirs[head]) head += 1;
  let tail = 0;
  while (tail < most - head && ours.at(-1 - tail) === theirs.at(-1 - tail)) tail += 1;
  return {
    before: ours.slice(0, head),
    ours: ours.slice(head, ours.length - tail),
    theirs: theirs.slice(head, theirs.length - tail),
    after: ours.slice(ours.length - tail),
  };
}

function favoured(
  conflict: Conflict,
  favour: 'ours' | 'theirs' | 'union',
  { end, isLast }: { readonly end: string; readonly isLast: boolean },
): string {
  if (favour !== 'union') return conflict[favour].join('');
  const { before, ours, theirs, after } = withoutEqualEdges(conflict);
  const rest = [...theirs, ...after];
  const mine = [...before, ...ours];
  const first = rest.length === 0 ? mine.join('') : closed(mine, end);
  return first + (isLast ? rest.join('') : closed(rest, end));
}

/** Joins lines, and ends the last of them, so that a marker begins a line of its own. */
function closed(side: readonly string[], end: string): string {
  const last = side.at(-1);
  const isOpen = last !== undefined && contentOf(last) === last;
  return side.join('') + (isOpen ? end : '');
}
