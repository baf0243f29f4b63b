import { Comparator, Range, SemVer, subset } from 'semver';

/**
 * Returns the range of exactly those versions that every given range allows, written so that npm reads it.
 * Null when there is none, or one of them is not a semver range (a tag, a URL).
 *
 * Keeps one of the given spellings if it is exact. The order of the ranges does not count.
 */
export function intersectRanges(ranges: readonly string[]): string | null {
  const sorted = [...new Set(ranges)].sort((one, other) =>
    one.length === other.length ? (one < other ? -1 : 1) : one.length - other.length,
  );
  const parsed = sorted.flatMap((text) => parseRange(text) ?? []);
  if (parsed.length < sorted.length) return null;
  const [first = [], ...rest] = parsed.map(spansOf);
  const common = write(
    rest.reduce(
      (some, others) => uniteTouching(some.flatMap((one) => joinSpans(one, others))),
      first,
    ),
  );
  if (common === null) return null;
  return sorted.find((_, at) => write(spansOf(parsed[at])) === common) ?? common;
}

function spansOf(range: Range | undefined): readonly Span[] {
  return uniteTouching((range?.set ?? []).flatMap((comparators) => spanOf(comparators) ?? []));
}

/** Returns the shortest spelling of several stretches, or null where they hold no version. */
function write(spans: readonly Span[]): string | null {
  const written = [...new Set(spans.map(writeSpan))];
  const needed = written.filter(
    (text, at) =>
      !written.some(
        (other, index) =>
          index !== at && subset(text, other) && (index < at || !subset(other, text)),
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

/**
 * A stretch of versions between two bounds, or from or up to one, or a single version. Prereleases are
 * in it only where a bound is itself one of the same version, as npm has it.
 */
type Span = {
  readonly exact: Comparator | null;
  readonly lower: Comparator | null;
  readonly upper: Comparator | null;
};

/** Returns the versions that all comparators allow, or null when there are none. */
function spanOf(comparators: readonly Comparator[]): Span | null {
  return narrow(comparators, [comparators]);
}

/** Intersects one stretch with each of several. */
function joinSpans(one: Span, others: readonly Span[]): readonly Span[] {
  return others.flatMap((other) => {
    const sides = [boundsOf(one), boundsOf(other)];
    return narrow(sides.flat(), sides) ?? [];
  });
}

/** Returns the stretches from the lowest up; those that meet or overlap are one. */
function uniteTouching(spans: readonly Span[]): readonly Span[] {
  const united: Span[] = [];
  for (const span of [...spans].sort(byStart)) {
    const last = united.at(-1);
    const both = last === undefined ? null : unite(last, span);
    if (both === null) united.push(span);
    else united.splice(-1, 1, both);
  }
  return united;
}

/** Returns a stretch as npm reads it, in its shortest spelling: `^1.4.0`, `~1.4.2`, `>=1.4.0 <3.0.0`. */
function writeSpan({ exact, lower, upper }: Span): string {
  if (exact !== null) return exact.semver.version;
  if (lower !== null && upper !== null && lower.operator === '>=' && isOpenEnd(upper)) {
    const { version } = lower.semver;
    const short = [`^${version}`, `~${version}`].find((text) => {
      const end = new Range(text).set[0]?.[1];
      return end !== undefined && end.semver.compareMain(upper.semver) === 0;
    });
    if (short !== undefined) return short;
  }
  const bounds = [lower, upper].flatMap((bound) => (bound === null ? [] : [writeBound(bound)]));
  return bounds.length === 0 ? '*' : bounds.join(' ');
}

function narrow(
  comparators: readonly Comparator[],
  sides: readonly (readonly Comparator[])[],
): Span | null {
  const bounds = comparators.filter(({ value }) => value !== '');
  const exact = bounds.find(({ operator }) => operator === '');
  if (exact !== undefined) {
    const isAllowed =
      bounds.every((bound) => bound.test(exact.semver)) &&
      (exact.semver.prerelease.length === 0 || sides.every((side) => allowsLike(side, exact)));
    return isAllowed ? { exact, lower: null, upper: null } : null;
  }
  const lowers = bounds.filter(({ operator }) => operator.startsWith('>')).sort(byTightness);
  const uppers = bounds.filter(({ operator }) => operator.startsWith('<')).sort(byTightness);
  const lower = released(lowers.at(-1) ?? null, sides);
  const upper = released(uppers[0] ?? null, sides);
  return isEmpty(lower, upper) ? null : { exact: null, lower, upper };
}

/** Returns a bound moved to the release it leads to, where not every side lets in prereleases of that one. */
function released(
  bound: Comparator | null,
  sides: readonly (readonly Comparator[])[],
): Comparator | null {
  if (bound === null || isPlain(bound)) return bound;
  if (sides.every((side) => allowsLike(side, bound))) return bound;
  const { major, minor, patch } = bound.semver;
  const release = `${major}.${minor}.${patch}`;
  return new Comparator(bound.operator.startsWith('>') ? `>=${release}` : `<${release}`);
}

function allowsLike(side: readonly Comparator[], { semver }: Comparator): boolean {
  return side.some((bound) => !isPlain(bound) && bound.semver.compareMain(semver) === 0);
}

function isEmpty(lower: Comparator | null, upper: Comparator | null): boolean {
  if (upper === null) return false;
  if (lower === null) return isOpenEnd(upper) && upper.semver.compareMain('0.0.0') === 0;
  const order = lower.semver.compare(upper.semver);
  if (order === 0) return lower.operator === '>' || upper.operator === '<';
  return order > 0 || isGap(lower, upper);
}

// Between `>1.2.3` and `<1.2.4` there are only prereleases, and no bound lets them in.
function isGap(lower: Comparator, upper: Comparator): boolean {
  if (lower.operator !== '>' || !isPlain(lower) || !isOpenEnd(upper)) return false;
  return new SemVer(lower.semver.version).inc('patch').compareMain(upper.semver) >= 0;
}

/** Unites two stretches; null where there is a gap between them, or a prerelease bound would be lost. */
function unite(one: Span, next: Span): Span | null {
  if (one.exact !== null || next.exact !== null) return null;
  const { upper } = one;
  const { lower } = next;
  if (upper !== null && lower !== null) {
    if (!isPlain(upper) || !isPlain(lower)) return null;
    const order = lower.semver.compareMain(upper.semver);
    if (order > 0 || (order === 0 && lower.operator === '>' && upper.operator === '<')) return null;
  }
  if (lower !== null && !isPlain(lower)) return null;
  const [end, dropped] = [upper, next.upper].sort(byEnd).reverse();
  const isLost = (bound: Comparator | null | undefined) => bound != null && !isPlain(bound);
  return isLost(dropped) ? null : { exact: null, lower: one.lower, upper: end ?? null };
}

function boundsOf({ exact, lower, upper }: Span): readonly Comparator[] {
  return [exact, lower, upper].filter((bound) => bound !== null);
}

function byStart(one: Span, other: Span): number {
  const [left, right] = [one, other].map(({ exact, lower }) => exact ?? lower);
  if (left == null || right == null) return Number(left != null) - Number(right != null);
  return byTightness(left, right);
}

function byEnd(one: Comparator | null, other: Comparator | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return byTightness(one, other);
}

// At one version, `>` is tighter than `>=`, and `<` than `<=`: the strict one sorts to the inside.
function byTightness(one: Comparator, other: Comparator): number {
  const strictness = Number(one.operator === '>' || one.operator === '<=');
  const otherStrictness = Number(other.operator === '>' || other.operator === '<=');
  return one.semver.compare(other.semver) || strictness - otherStrictness;
}

// `<2.0.0-0` is how semver spells `<2.0.0` to itself; npm reads both alike.
function isOpenEnd({ operator, semver }: Comparator): boolean {
  return operator === '<' && ['', '0'].includes(semver.prerelease.join('.'));
}

function isPlain(bound: Comparator): boolean {
  return bound.semver.prerelease.length === 0 || isOpenEnd(bound);
}

function writeBound(bound: Comparator): string {
  const { major, minor, patch, version } = bound.semver;
  return `${bound.operator}${isOpenEnd(bound) ? `${major}.${minor}.${patch}` : version}`;
}
