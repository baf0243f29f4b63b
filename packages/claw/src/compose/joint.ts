import { isDeepStrictEqual } from 'node:util';
import {
  contentOf,
  type FileMerge,
  type Hunk,
  type mergeFiles,
  splitLines,
  type TreeFile,
  type Versions,
} from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import type { Touch } from './blame/attribution.ts';
import { authorsOf } from './blame/attribution.ts';
import type { ConflictOutcome } from './resolve-conflict.ts';

type ConflictHunk = Extract<Hunk, { kind: 'conflict' }>;

/** A file with open places, onto which later layers are merged before the owner decides. */
export type Draft = {
  /** The question for the owner: about the layers so far that disagree. */
  readonly conflict: Conflict;
  /** The file as all layers so far make it, with every place that waits. */
  readonly hunks: readonly Hunk[];
  /** All work on the file so far, as if ours had been chosen at those places. */
  readonly touches: readonly Touch[];
};

/** One more layer's work on the file of a draft. */
export type Joining = {
  readonly layer: string;
  readonly base: TreeFile | null;
  readonly theirs: TreeFile | null;
  readonly merge: typeof mergeFiles;
  /** Applies what is known of a conflict: recordings that resolve places of it. */
  readonly resolve: (conflict: Conflict) => ConflictOutcome;
};

/**
 * Begins a draft with the first conflict of a file.
 *
 * @param touches what layers before did to the file
 * @returns null for a conflict that has no lines, so that nothing can be merged around it
 */
export function draftOf(conflict: Conflict, touches: readonly Touch[]): Draft | null {
  const { hunks, kind } = conflict;
  const isOpen = hunks.some((hunk) => hunk.kind === 'conflict');
  const isPlain = hunks.every((hunk) => linesOf(hunk).every((line) => !line.includes(HOLE)));
  if (kind !== 'content' || !isOpen || !isPlain) return null;
  const after = fileOf(conflict, hunks, 'ours');
  const touch = {
    layer: conflict.layers[1],
    before: conflict.sides.ours,
    after,
    resolved: null,
  };
  return { conflict, hunks, touches: [...touches, touch] };
}

/**
 * Merges one more layer onto a draft. If it disagrees far from the open places, this is asked in the same round, so
 * the owner learns of it before deciding the first one.
 *
 * @returns null where the layer's work depends on what is decided: it has to wait for that
 */
export function joinLayer(draft: Draft, joining: Joining): Draft | null {
  const { layer, base, theirs, merge } = joining;
  const { conflict, hunks } = draft;
  if (base === null || theirs === null) return null;
  const mergeOnto = (ours: TreeFile) => merge({ base, ours, theirs }, { path: conflict.path });
  // Merges twice: with a placeholder line for each open place, and with ours in its stead. The layer's work
  // is independent only where both merges agree.
  const blank = hunksOf(mergeOnto(fileOf(conflict, hunks, 'holes')));
  const known = hunksOf(mergeOnto(fileOf(conflict, hunks, 'ours')));
  if (blank === null || known === null) return null;
  const filled = fillHoles(blank, hunks.filter(isOpen));
  if (filled === null || !isDeepStrictEqual(joined(filled.flatMap(chooseOurs)), joined(known))) {
    return null;
  }
  const all = joined(filled.map(({ hunk }) => hunk));
  const before = fileOf(conflict, hunks, 'ours');
  const touch = { layer, before, after: fileOf(conflict, all, 'ours'), resolved: null };
  const touches = [...draft.touches, touch];
  if (filled.every(({ hunk, isNew }) => !isNew || hunk.kind === 'resolved')) {
    return { conflict, hunks: all, touches };
  }
  // A resolved place is not asked about again: the layer's own round finds the recording.
  if (isKnown(draft, filled, joining)) return null;
  return { conflict: jointConflict(draft, filled, layer), hunks: all, touches };
}

/** Tells whether a recording resolves a place where the layer disagrees. */
function isKnown(draft: Draft, filled: readonly Filled[], { layer, resolve }: Joining): boolean {
  const { conflict, touches } = draft;
  const hunks = joined(filled.flatMap(chooseOurs));
  const open = hunks.filter(isOpen);
  const authors = authorsOf(touches, hunks, 'ours');
  const { others: _, ...rest } = conflict;
  const own = {
    ...rest,
    layers: [authors[0] ?? conflict.layers[0], layer],
    authors,
    hunks,
  } as const;
  const outcome = resolve(own);
  return outcome.kind === 'resolved' || outcome.conflict.hunks.filter(isOpen).length < open.length;
}

/** Lines hold no such character but in files that are not text for people. */
const HOLE = '\u0001';

type Filled = { readonly hunk: Hunk; readonly isNew: boolean };

function jointConflict(draft: Draft, filled: readonly Filled[], layer: string): Conflict {
  const { conflict, touches } = draft;
  const open = filled.filter(({ hunk }) => hunk.kind === 'conflict');
  const formerAuthors = [...(conflict.authors ?? [])];
  const formerOthers = [...(conflict.others ?? [])];
  const parties = open.map(({ hunk, isNew }): readonly [string, string] => {
    if (isNew) return [authorsOf(touches, [hunk], 'ours')[0] ?? conflict.layers[0], layer];
    return [
      formerAuthors.shift() ?? conflict.layers[0],
      formerOthers.shift() ?? conflict.layers[1],
    ];
  });
  const authors = parties.map(([ours]) => ours);
  const others = parties.map(([, theirs]) => theirs);
  const added = new Set(parties.filter((_, at) => open[at]?.isNew).map(([ours]) => ours));
  const hunks = joined(filled.map(({ hunk }) => hunk));
  const sides = {
    base: fileOf(conflict, hunks, 'base'),
    ours: fileOf(conflict, hunks, 'ours'),
    theirs: fileOf(conflict, hunks, 'theirs'),
  };
  return {
    ...conflict,
    layers: [authors[0] ?? conflict.layers[0], [...new Set(others)].join(', ')],
    authors,
    others,
    reason: `${conflict.reason} Elsewhere ${[...added].join(' and ')} and ${layer} disagree as well.`,
    hunks,
    sides,
  };
}

/** Puts the open places back where their lines ended up; null if one of them is not there exactly once. */
function fillHoles(merged: readonly Hunk[], open: readonly ConflictHunk[]): Filled[] | null {
  const filled: Filled[] = [];
  let next = 0;
  for (const hunk of merged) {
    if (hunk.kind === 'conflict') {
      if (linesOf(hunk).some(isHole)) return null;
      filled.push({ hunk, isNew: true });
      continue;
    }
    for (const line of hunk.lines) {
      const place = isHole(line) ? open[next] : undefined;
      if (!isHole(line)) filled.push({ hunk: { kind: 'resolved', lines: [line] }, isNew: true });
      else if (place === undefined || contentOf(line) !== holeOf(next)) return null;
      else {
        filled.push({ hunk: place, isNew: false });
        next += 1;
      }
    }
  }
  return next === open.length ? filled : null;
}

function chooseOurs({ hunk, isNew }: Filled): readonly Hunk[] {
  return isNew || hunk.kind === 'resolved' ? [hunk] : [{ kind: 'resolved', lines: hunk.ours }];
}

function hunksOf(merged: FileMerge): readonly Hunk[] | null {
  if (merged.kind === 'clean') {
    const text = merged.file?.bytes.toString('latin1');
    return text === undefined ? null : [{ kind: 'resolved', lines: splitLines(text) }];
  }
  return merged.conflict === 'content' && merged.hunks.length > 0 ? merged.hunks : null;
}

/** Joins adjacent resolved stretches, as everything that reads hunks expects. */
function joined(hunks: readonly Hunk[]): readonly Hunk[] {
  const result: Hunk[] = [];
  let resolved: string[] = [];
  for (const hunk of hunks) {
    if (hunk.kind === 'resolved') {
      resolved.push(...hunk.lines);
      continue;
    }
    if (resolved.length > 0) result.push({ kind: 'resolved', lines: resolved });
    resolved = [];
    result.push(hunk);
  }
  if (resolved.length > 0) result.push({ kind: 'resolved', lines: resolved });
  return result;
}

function fileOf(
  { sides }: Conflict,
  hunks: readonly Hunk[],
  choice: 'base' | 'ours' | 'theirs' | 'holes',
): TreeFile {
  let count = 0;
  const lines = hunks.flatMap((hunk) => {
    if (hunk.kind === 'resolved') return hunk.lines;
    return choice === 'holes' ? [`${holeOf(count++)}\n`] : hunk[choice];
  });
  const side: keyof Versions<unknown> = choice === 'holes' ? 'ours' : choice;
  const isExecutable = (sides[side] ?? sides.ours)?.isExecutable ?? false;
  return { bytes: Buffer.from(lines.join(''), 'latin1'), isExecutable };
}

function isOpen(hunk: Hunk): hunk is ConflictHunk {
  return hunk.kind === 'conflict';
}

function holeOf(index: number): string {
  return `${HOLE}${index}${HOLE}`;
}

function isHole(line: string): boolean {
  return line.startsWith(HOLE);
}

function linesOf(hunk: Hunk): readonly string[] {
  return hunk.kind === 'resolved' ? hunk.lines : [...hunk.base, ...hunk.ours, ...hunk.theirs];
}
