import { conflictHunks } from '../../packages/claw/src/compose/conflict-hunks.ts';
import {
  movedEdits,
  optionsAtPlaces,
} from '../../packages/claw/src/decisions/resolution-options.ts';
import { mergeFiles } from '../../packages/merge/src/merge-files.ts';
import type { TreeFile } from '../../packages/merge/src/versions.ts';
import type { RealMerge } from './merges.ts';

/** Blocks that one side moved and the other edited, for which the edit at the new place is offered. */
export type MovedOffers = {
  readonly offered: number;
  /** Of them, those of which the committed text has the lines, space apart. */
  readonly committed: number;
};

/** Counts such offers in the conflicts of a file. */
export function countMovedOffers(merge: RealMerge): MovedOffers {
  const { path } = merge;
  const sides = {
    base: fileOf(merge.base),
    ours: fileOf(merge.ours),
    theirs: fileOf(merge.theirs),
  };
  const merged = mergeFiles(sides, { path });
  if (merged.kind === 'clean') return { offered: 0, committed: 0 };
  const hunks = conflictHunks(merged, sides);
  const edits = movedEdits(hunks);
  if (edits.length === 0) return { offered: 0, committed: 0 };
  const ways = optionsAtPlaces({
    path,
    kind: 'content',
    layers: ['ours', 'theirs'],
    reason: '',
    hunks,
    sides,
    values: null,
  });
  const isOffered = (at: number) => ways[at]?.some(({ rule }) => rule === 'moved') === true;
  const offered = edits.filter(({ from, to }) => isOffered(from) && isOffered(to));
  const committed = squash(fileOf(merge.committed).bytes.toString('latin1'));
  const kept = offered.filter(({ lines }) => committed.includes(squash(lines.join(''))));
  return { offered: offered.length, committed: kept.length };
}

function fileOf(text: string): TreeFile {
  return { bytes: Buffer.from(text), isExecutable: false };
}

function squash(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
