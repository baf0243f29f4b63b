import { Range, subset } from 'semver';
import { joinSpans, type Span, spanOf, uniteTouching, writeSpan } from './range-span.ts';

/**
 * Returns the range of exactly those versions that every given range allows, written so that npm reads it.
 * Null when there is none, or one of them is no semver range (a tag, a URL).
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
