import { type LineWeights, likeness, type TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../conflict.ts';
import {
  type Alike,
  type Cores,
  goneFrom,
  mostAlike,
  nameOf,
  RELATED,
  stemOf,
  type Weighed,
  weighAdded,
  weightsOf,
} from './move-candidates.ts';

/** The share above which the only such file is taken for the moved one. */
const SAME = 0.6;

/** A file that the release may have moved without saying so. */
export type FoundMove = {
  readonly from: string;
  /** Where it is now; null where that is not certain. */
  readonly to: Alike | null;
  /** The files that are like it, the likeliest first. */
  readonly alike: readonly Alike[];
  /** The owner or a layer took the file out, so that no conflict is about it. */
  readonly isDeleted: boolean;
};

type Lookup = (path: string) => TreeFile | null;

type Work = Cores & {
  readonly conflicts: readonly Conflict[];
  /** The old core's files as they were released. */
  readonly oldFile: Lookup;
  readonly disk: Lookup;
  /** Tells whether it is known where a file of the old core is now, or that it did not move. */
  readonly isKnown: (path: string) => boolean;
};

/**
 * Finds files that the owner or a layer changed or took out, and that the release may have moved. One moved for
 * certain where one added file is most like it, and
 *
 * - each other added file that is like it, or that has its name and some of its lines and is as near, is more like
 *   another file that the release no longer has: of a file that moved and its copy, the copy can be more alike;
 * - each other file that the release no longer has and that is like the new one is more like another added file;
 * - no other file of the old core with that name is like the new one;
 * - there is no other file at its place on the disk.
 */
export function findMoves(work: Work): readonly FoundMove[] {
  const { before, after, disk, oldFile, isKnown } = work;
  const gone = [...before].filter((path) => !after.has(path));
  const changed = new Set(work.conflicts.filter(goneFrom(work)).map(({ path }) => path));
  const missed = gone.filter(
    (path) => !isKnown(path) && (changed.has(path) || disk(path) === null),
  );
  if (missed.length === 0) return [];
  const added = weighAdded(work);
  const isMove = createTest(work, gone, added);
  return missed.flatMap((from): readonly FoundMove[] => {
    const file = oldFile(from);
    const alike = mostAlike(from, file, added);
    const [found] = alike;
    if (file === null || found === undefined) return [];
    const isCertain = found.share > SAME && isMove(from, found, weightsOf(file.bytes));
    const isDeleted = !changed.has(from) && disk(found.path) === null;
    return [{ from, to: isCertain ? found : null, alike, isDeleted }];
  });
}

/** Makes the test of what else could be the origin or the new place of a file. */
function createTest(
  { before, after, disk, oldFile }: Work,
  gone: readonly string[],
  added: readonly Weighed[],
) {
  const weigh = memoizedWeights(oldFile);
  return (from: string, { path: to, share }: Alike, lines: LineWeights): boolean => {
    const others = gone.filter((path) => path !== from);
    const isRival = ({ path, lines: there }: Weighed) => {
      const own = path === to ? 0 : likeness(lines, there, RELATED);
      if (own < RELATED || (own <= SAME && !isAsNear(path, to, from))) return false;
      return !others.some((other) => likenessOf(weigh(other), there, own) > own);
    };
    const target = added.find(({ path }) => path === to)?.lines ?? null;
    if (target === null || added.some(isRival)) return false;
    const isOrigin = (other: string) => {
      const known = weigh(other);
      const own = likenessOf(known, target, SAME);
      if (own <= SAME) return false;
      return own >= share || !added.some(({ lines: there }) => likenessOf(known, there, own) > own);
    };
    const isLikeTarget = (path: string) => likenessOf(weigh(path), target, SAME) > SAME;
    const kept = [...before].filter((path) => after.has(path) && nameOf(path) === nameOf(from));
    if (others.some(isOrigin) || kept.some(isLikeTarget)) return false;
    const there = disk(to);
    return (
      there === null || (disk(from) === null && likeness(lines, weightsOf(there.bytes)) > SAME)
    );
  };
}

function memoizedWeights(read: Lookup): (path: string) => LineWeights | null {
  const known = new Map<string, LineWeights | null>();
  return (path) => {
    const there = known.get(path);
    if (there !== undefined) return there;
    const file = read(path);
    const weights = file && weightsOf(file.bytes);
    known.set(path, weights);
    return weights;
  };
}

function likenessOf(one: LineWeights | null, other: LineWeights, least: number): number {
  return one === null ? 0 : likeness(one, other, least);
}

/**
 * Tells whether a file has the name of one that is gone, or of the one that it is likely to be now, endings apart, and
 * is no further from it than that.
 */
function isAsNear(path: string, other: string, gone: string): boolean {
  const isNamed = [gone, other].some((one) => stemOf(one) === stemOf(path));
  return isNamed && distance(path, gone) <= distance(other, gone);
}

/** Counts the folders of two paths that they do not share at the beginning or the end. */
function distance(one: string, other: string): number {
  const [a = [], b = []] = [one, other].map((path) => path.split('/').slice(0, -1));
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  return a.length + b.length - 2 * (head + tail);
}
