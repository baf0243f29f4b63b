import type Comparator from 'semver/classes/comparator.js';
import Range from 'semver/classes/range.js';
import minVersion from 'semver/ranges/min-version.js';
import subset from 'semver/ranges/subset.js';

/**
 * The range of exactly those versions that every given range allows, written so that npm reads it;
 * null when there is none, or one of them is no semver range (a tag, a URL).
 *
 * One of the given spellings is kept where it says it all. The order of the ranges does not count.
 */
export function intersectRanges(ranges: readonly string[]): string | null {
  const sorted = [...new Set(ranges)].sort((one, other) =>
    one.length === other.length ? (one < other ? -1 : 1) : one.length - other.length,
  );
  const parsed = sorted.map(parseRange);
  if (parsed.some((range) => range === null)) return null;
  const narrowest = sorted.find((range) => sorted.every((other) => subset(range, other)));
  if (narrowest !== undefined) return minVersion(narrowest) === null ? null : narrowest;

  const [first = [], ...rest] = parsed.flatMap((range) => (range === null ? [] : [range.set]));
  const alternatives = rest.reduce(crossJoin, [...first]).map(writePart);
  const possible = [...new Set(alternatives)].filter((text) => minVersion(text) !== null);
  const needed = possible.filter(
    (text, at) =>
      !possible.some(
        (other, index) =>
          index !== at && subset(text, other) && !(subset(other, text) && index > at),
      ),
  );
  return needed.length === 0 ? null : needed.join(' || ');
}

function parseRange(text: string): Range | null {
  try {
    return new Range(text);
  } catch {
    // No semver range: nothing can be said about which versions it allows.
    return null;
  }
}

type Parts = readonly (readonly Comparator[])[];

function crossJoin(some: Parts, others: Parts): readonly (readonly Comparator[])[] {
  return some.flatMap((one) => others.map((other) => [...one, ...other]));
}

/** The tightest bounds among the comparators of one alternative, such as `>=1.4.0 <2.0.0`. */
function writePart(comparators: readonly Comparator[]): string {
  const bounds = comparators.filter(({ value }) => value !== '');
  const exact = bounds.find(({ operator }) => operator === '');
  if (exact !== undefined) {
    const isAllowed = bounds.every((bound) => bound.test(exact.semver));
    return isAllowed ? exact.semver.version : NOTHING;
  }
  const lower = bounds
    .filter(({ operator }) => operator.startsWith('>'))
    .sort(byTightness)
    .at(-1);
  const upper = bounds
    .filter(({ operator }) => operator.startsWith('<'))
    .sort(byTightness)
    .at(0);
  return [lower, upper].flatMap((bound) => (bound === undefined ? [] : [write(bound)])).join(' ');
}

const NOTHING = '<0.0.0-0';

// At one version, `>` is tighter than `>=`, and `<` than `<=`: the strict one sorts to the inside.
function byTightness(one: Comparator, other: Comparator): number {
  const strictness = Number(one.operator === '>' || one.operator === '<=');
  const otherStrictness = Number(other.operator === '>' || other.operator === '<=');
  return one.semver.compare(other.semver) || strictness - otherStrictness;
}

// `<2.0.0-0` is how semver spells `<2.0.0` to itself; npm reads both alike.
function write({ operator, semver }: Comparator): string {
  const isOpen = operator === '<' && semver.prerelease.join('.') === '0';
  const { major, minor, patch } = semver;
  return `${operator}${isOpen ? `${major}.${minor}.${patch}` : semver.version}`;
}
