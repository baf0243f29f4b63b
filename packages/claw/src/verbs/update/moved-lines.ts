import { splitLines, type Tree, type TreeFile } from '@patchclaw/merge';
import type { Conflict } from '../../conflict.ts';

/** Shorter lines, such as brackets, stand in many files. */
const MIN_LINE = 4;
/** Bytes of lines that a release took out; fewer tell nothing of where they went. */
const MIN_GONE = 40;
/** The share of them that another place must have. */
const FOUND = 0.6;
/** The longest lines, one of which must be there. */
const TELLING = 3;
/** More conflicts are not looked into. */
const MAX_CONFLICTS = 200;
const DECLARATION =
  /\b(?:function\*?|class|interface|type|enum|const|let|def|fn|func|fun|sub|struct|trait|impl)\s+([\p{L}_$][\p{L}\p{N}_$]*)/u;

type Cores = {
  readonly after: Tree;
  readonly oldFile: (path: string) => TreeFile | null;
};

type LineMatch = { readonly path: string; readonly line: number; readonly share: number };

/**
 * Says of conflicts with a release where it has now what it took out at the place and others changed there: at another
 * place of the file, or in another file that did not have it before.
 *
 * @param release the name of the release's layer
 */
export function nameMovedLines(
  conflicts: readonly Conflict[],
  release: string,
  cores: Cores,
): readonly Conflict[] {
  return conflicts.map((conflict, at) => {
    // An edit of the owner's is ours, and the release theirs; beside a skill it is the other way round.
    const side = (['ours', 'theirs'] as const)[conflict.layers.indexOf(release)];
    if (conflict.kind !== 'content' || side === undefined || at >= MAX_CONFLICTS) return conflict;
    const told = conflict.hunks.flatMap((hunk) => {
      if (hunk.kind !== 'conflict') return [];
      const left = new Set(trimmedLines(hunk[side].join('')));
      const gone = trimmedLines(hunk.base.join('')).filter(
        (line) => line.length >= MIN_LINE && !left.has(line),
      );
      if (gone.join('').length < MIN_GONE) return [];
      const found = placeOf(gone, conflict.path, cores);
      return found === null ? [] : [sentenceOf(gone, conflict.path, found)];
    });
    if (told.length === 0) return conflict;
    return { ...conflict, reason: [conflict.reason, ...new Set(told)].join(' ') };
  });
}

/** Finds the place of a release that has most of some lines; null where none has enough of them, or it had them before. */
function placeOf(
  gone: readonly string[],
  own: string,
  { after, oldFile }: Cores,
): LineMatch | null {
  const all = sizeOf(gone);
  const telling = gone
    .toSorted((one, other) => other.length - one.length)
    .slice(0, TELLING)
    .map((line) => Buffer.from(line, 'latin1'));
  const found = [...after].flatMap(([path, { bytes }]): readonly LineMatch[] => {
    if (!telling.some((line) => bytes.includes(line)) || bytes.includes(0)) return [];
    const lines = trimmedLines(bytes.toString('latin1'));
    const known = new Set(lines);
    const there = gone.filter((line) => known.has(line));
    const share = sizeOf(there) / all;
    if (share < FOUND) return [];
    if (path !== own) {
      const old = new Set(trimmedLines(oldFile(path)?.bytes.toString('latin1') ?? ''));
      if (sizeOf(there.filter((line) => !old.has(line))) / all < FOUND) return [];
    }
    return [{ path, line: lines.indexOf(there[0] ?? '') + 1, share }];
  });
  const [best = null] = found.toSorted((one, other) => other.share - one.share);
  return best;
}

function sentenceOf(gone: readonly string[], own: string, { path, line }: LineMatch): string {
  const name = gone.map((one) => DECLARATION.exec(one)?.[1]).find((one) => one !== undefined);
  const what = name === undefined ? 'these lines' : Buffer.from(name, 'latin1').toString();
  return path === own
    ? `The release has ${what} at line ${line} of this file now.`
    : `The release has ${what} in ${path} now, at line ${line}.`;
}

function trimmedLines(text: string): readonly string[] {
  return splitLines(text).map((line) => line.trim());
}

function sizeOf(lines: readonly string[]): number {
  return lines.reduce((size, line) => size + line.length, 0);
}
