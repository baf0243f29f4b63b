import { ClawError } from '../errors.ts';
import type { Release } from '../installed/release.ts';
import { treePathFault } from '../package/checks/protection.ts';
import type { PathMap } from '../package/manifest/path-map.ts';
import { isOlder } from './new-core.ts';
import type { OldCore } from './old-core.ts';

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
