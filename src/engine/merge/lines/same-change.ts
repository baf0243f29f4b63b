import type { Versions } from '../../tree.ts';
import type { Interned } from './intern.ts';
import { mapVersions, NAMES } from './line-ends.ts';
import { contentOf } from './lines.ts';
import { isEqual, type Region } from './regions.ts';

const WORD = /[\p{L}\p{N}]/u;
/** Lines are bytes: other white space can be a part of a letter. */
const TRAILING = /[ \t]+$/;

/** `keepsBreaks` is true for Markdown, where two spaces at the end of a line break it. */
type Texts = {
  readonly texts: Interned;
  readonly lines: Versions<readonly string[]>;
  readonly keepsBreaks: boolean;
};

/**
 * Resolves a conflict in which the sides do not disagree: one inserts all that the other one inserts, in one
 * piece, and more; or they differ in space at the ends of lines alone.
 */
export function resolveSameChange(region: Region, { texts, lines, keepsBreaks }: Texts): Region {
  if (region.kind !== 'conflict') return region;
  const { base, ours, theirs } = mapVersions(NAMES, (name) =>
    texts[name].subarray(region[name].start, region[name].end),
  );
  const said = mapVersions(NAMES, (name) =>
    lines[name].slice(region[name].start, region[name].end).map(contentOf),
  );
  if (base.length === 0 && ours.length !== theirs.length) {
    const [less, larger] =
      ours.length < theirs.length ? (['ours', 'theirs'] as const) : (['theirs', 'ours'] as const);
    const isWord = said[less].some((line) => WORD.test(line));
    const [one, other] = less === 'ours' ? [ours, theirs] : [theirs, ours];
    return isWord && holdsRun(other, one) ? { ...region, kind: larger } : region;
  }
  const isSame =
    ours.length === theirs.length &&
    said.ours.every((line, index) => trimmed(line) === trimmed(said.theirs[index] ?? ''));
  if (!isSame) return region;
  const known = new Set(said.base);
  const resolved = said.ours.map((mine, index) =>
    endOf(mine, said.theirs[index] ?? mine, { known, keepsBreaks }),
  );
  return { ...region, kind: 'resolved', lines: resolved, rule: 'layout' };
}

/** Returns the line that changed; where both did, the one without space at its end, a break of Markdown apart. */
function endOf(
  mine: string,
  other: string,
  { known, keepsBreaks }: { readonly known: ReadonlySet<string>; readonly keepsBreaks: boolean },
): string {
  if (known.has(mine) !== known.has(other)) return known.has(mine) ? other : mine;
  const [shorter, longer] = mine.length < other.length ? [mine, other] : [other, mine];
  return keepsBreaks && longer.endsWith('  ') ? longer : shorter;
}

function trimmed(line: string): string {
  return line.replace(TRAILING, '');
}

/** Tells whether a text has all of another one as a run of its lines. */
export function holdsRun(text: Int32Array, run: Int32Array): boolean {
  for (let start = 0; start + run.length <= text.length; start++) {
    if (isEqual(text.subarray(start, start + run.length), run)) return true;
  }
  return false;
}
