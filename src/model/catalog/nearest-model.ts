/** Ends of a name that mean a version of it: a day, or the newest one. */
const VERSION = /(?:[-@:](?:\d{8}|\d{4}-\d{2}-\d{2}|latest))$/;

/** Tells whether a list holds a model, also as one of its dated versions. */
export function isListed(name: string, listed: readonly string[]): boolean {
  const plain = name.replace(VERSION, '');
  return listed.some((each) => each === name || each.replace(VERSION, '') === plain);
}

/**
 * Returns the listed model with the nearest name: the most words in common, and among several the newest by the
 * numbers in it. Null if none shares half of the words.
 */
export function nearestModel(name: string, listed: readonly string[]): string | null {
  const wanted = wordsOf(name);
  let best: { readonly name: string; readonly share: number } | null = null;
  for (const each of listed) {
    const share = shareOf(wanted, wordsOf(each));
    if (share < 0.5 || share < (best?.share ?? 0)) continue;
    if (best !== null && share === best.share && !isNewer(each, best.name)) continue;
    best = { name: each, share };
  }
  return best?.name ?? null;
}

/** Returns the words of a name that are no numbers: `claude`, `sonnet`. */
function wordsOf(name: string): ReadonlySet<string> {
  const parts = name
    .toLowerCase()
    .replace(VERSION, '')
    .split(/[^a-z0-9]+|(?<=[a-z])(?=\d)/);
  return new Set(parts.filter((part) => /^[a-z]/.test(part)));
}

function shareOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const shared = [...one].filter((word) => other.has(word)).length;
  const all = one.size + other.size - shared;
  return all === 0 ? 0 : shared / all;
}

function isNewer(one: string, other: string): boolean {
  const [mine, theirs] = [numbersIn(one), numbersIn(other)];
  for (let at = 0; at < Math.max(mine.length, theirs.length); at += 1) {
    const difference = (mine[at] ?? 0) - (theirs[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  // The shorter name is the one that its maker moves on.
  return one.length < other.length;
}

function numbersIn(name: string): readonly number[] {
  return [...name.matchAll(/\d+/g)].map(([digits]) => Number(digits));
}
