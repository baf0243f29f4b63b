import {
  type LineWeights,
  likeness,
  lineWeights,
  type Tree,
  type TreeFile,
} from '@patchclaw/merge';
import type { Conflict } from '../../conflict.ts';
import { digestBytes } from '../../digest.ts';
import { ClawError } from '../../errors.ts';
import type { Release } from '../../installed/release.ts';
import { treePathFault } from '../../package/checks/protection.ts';
import type { PathMap } from '../../package/manifest/path-map.ts';
import { isOlder, type OldCore } from './cores.ts';

/** The share of a file that another must contain to be named, as in git. */
const ALIKE = 0.5;
/** The share from which one of the same name may be the missing file as well. */
export const RELATED = 0.2;
const NAMED = 3;

export type Cores = {
  /** Paths of the old core. */
  readonly before: ReadonlySet<string>;
  readonly after: Tree;
  /** Places that files came to by a declared move. */
  readonly taken: ReadonlySet<string>;
};

/** A file of the release that may be one that moved, and how much of that is in it, 0 to 1. */
export type Alike = { readonly path: string; readonly share: number };

/**
 * Adds candidates to conflicts over files that the release no longer has: the added files that are most like
 * them.
 */
export function nameCandidates(conflicts: readonly Conflict[], cores: Cores): readonly Conflict[] {
  const isGone = goneFrom(cores);
  if (!conflicts.some(isGone)) return conflicts;
  const added = weighAdded(cores);
  return conflicts.map((conflict) => {
    if (!isGone(conflict)) return conflict;
    const { base, ours, theirs } = conflict.sides;
    const found = mostAlike(conflict.path, base ?? ours ?? theirs, added).slice(0, NAMED);
    if (found.length === 0) return conflict;
    const candidates = found.map(({ path }) => path);
    return { ...conflict, candidates, reason: `${conflict.reason} ${advice(found)}` };
  });
}

export function goneFrom({ before, after }: Cores): (conflict: Conflict) => boolean {
  return ({ kind, path }) => kind === 'modify-delete' && before.has(path) && !after.has(path);
}

export type Weighed = { readonly path: string; readonly lines: LineWeights };

/** Weighs the files that the release brings and that did not come there by a declared move. */
export function weighAdded({ before, after, taken }: Cores): readonly Weighed[] {
  return [...after].flatMap(([path, { bytes }]) => {
    const isOld = before.has(path) || taken.has(path);
    return isOld ? [] : [{ path, lines: weightsOf(bytes) }];
  });
}

/** Weighs the lines of a file; one that is not text is as a single line. */
export function weightsOf(bytes: Buffer): LineWeights {
  const whole = new Map([[digestBytes(bytes), bytes.length]]);
  return lineWeights(bytes) ?? { weights: whole, total: bytes.length };
}

/** Returns the added files that may be one that is gone, by what they have in common with it, the likeliest first. */
export function mostAlike(
  gone: string,
  file: TreeFile | null,
  added: readonly Weighed[],
): readonly Alike[] {
  if (file === null) return [];
  const lines = weightsOf(file.bytes);
  return added
    .flatMap(({ path, lines: other }): readonly Alike[] => {
      const least = stemOf(path) === stemOf(gone) ? RELATED : ALIKE;
      const share = likeness(lines, other, least);
      return share < least ? [] : [{ path, share }];
    })
    .sort(
      (one, other) =>
        other.share - one.share ||
        Number(nameOf(other.path) === nameOf(gone)) - Number(nameOf(one.path) === nameOf(gone)),
    );
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the name of a file without its endings. */
export function stemOf(path: string): string {
  return /^\.?[^.]*/.exec(nameOf(path))?.[0] ?? '';
}

function advice(found: readonly Alike[]): string {
  const named = found.map(({ path, share }) => `${path} (${Math.round(share * 100)} % alike)`);
  return `The release may have moved it to ${named.join(' or ')}.`;
}

/** The share above which the only such file is taken for the moved one. */
const SAME = 0.6;

/** A file that the release may have moved without saying so. */
export type FoundMove = {
  readonly from: string;
  /** The present place; null if it is not certain. */
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

/**
 * Reads the moves that the owner declares for an update, `old=new` each: a file or a folder of the old core,
 * and one of the release.
 *
 * `old=` denies that a file moved; that is no move.
 *
 * @returns null where there are none
 * @throws ClawError USAGE for one that the two cores do not bear out
 */
export function declaredMoves(
  moved: readonly string[],
  { old, release }: { readonly old: OldCore; readonly release: Release },
): PathMap | null {
  const named = moved.filter((text) => !isDenial(text, old.paths));
  if (named.length === 0) return null;
  const before = placesIn(old.paths);
  const after = placesIn(release.files.keys());
  const entries = named.map((text) => readMove(text, before, after));
  // Where the versions do not tell which packages are older, the move holds for all of them.
  const isLater = isOlder(old.version, release.version);
  return { since: isLater ? release.version : null, paths: Object.fromEntries(entries) };
}

/**
 * Returns the declared moves that still hold on another release. Going back drops the moves of later
 * releases; a path that exists again is a file of its own.
 */
export function movesThatHold(
  moves: readonly PathMap[],
  { version, files }: Pick<Release, 'version' | 'files'>,
): readonly PathMap[] {
  return moves.flatMap(({ since, paths }): readonly PathMap[] => {
    if (since !== null) return isOlder(version, since) ? [] : [{ since, paths }];
    const left = Object.entries(paths).filter(([from]) => !files.has(from));
    return left.length === 0 ? [] : [{ since, paths: Object.fromEntries(left) }];
  });
}

/** Tells whether the owner says that a file of the old core did not move, as `old=`. */
function isDenial(text: string, paths: readonly string[]): boolean {
  return text.endsWith('=') && paths.includes(text.slice(0, -1));
}

type Places = { readonly files: ReadonlySet<string>; readonly folders: ReadonlySet<string> };

function placesIn(paths: Iterable<string>): Places {
  const files = new Set(paths);
  const folders = new Set<string>();
  for (const path of files) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      folders.add(path.slice(0, at));
    }
  }
  return { files, folders };
}

function readMove(text: string, before: Places, after: Places): readonly [string, string] {
  // A name may hold the sign as well, so the two cores say which one parts old and new.
  const splits = [...text].flatMap((sign, at) =>
    sign === '=' ? [[text.slice(0, at), text.slice(at + 1)].map(plain) as [string, string]] : [],
  );
  const found = splits.find(
    ([from, to]) =>
      (before.files.has(from) && after.files.has(to)) ||
      (before.folders.has(from) && after.folders.has(to)),
  );
  const [from, to] = found ?? splits[0] ?? [text, ''];
  const fault = found === undefined ? faultOf(from, to, before, after) : treePathFault(to);
  if (fault === null) return [from, to];
  throw new ClawError('USAGE', `--moved ${text}: ${fault}. Give it as old=new.`, { path: from });
}

function faultOf(from: string, to: string, before: Places, after: Places): string {
  if (to === '') return 'it names no new path';
  const isThere = before.files.has(from) || before.folders.has(from);
  if (!isThere) return `the old core has no ${from}`;
  const isKnown = after.files.has(to) || after.folders.has(to);
  return isKnown ? 'one of them is a file, the other a folder' : `the release has no ${to}`;
}

function plain(path: string): string {
  return path.replace(/\/$/, '');
}
