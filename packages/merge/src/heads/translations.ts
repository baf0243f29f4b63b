import type { Range, Region } from '../lines/regions.ts';
import type { Versions } from '../tree.ts';

/** What a line of a catalogue of translations belongs to: its message, and of that the text or its translation. */
type Place = { readonly message: number; readonly part: 'text' | 'translation' | null };

const CATALOGUE = /\.pot?$/i;
const TEXT = /^\s*(?:#~\s*)?(?:msgctxt|msgid|msgid_plural)\b/;
const TRANSLATION = /^\s*(?:#~\s*)?msgstr\b/;

/** Tells whether a file is a catalogue of gettext, whose messages are parted by blank lines. */
export function isCatalogue(path: string | undefined): boolean {
  return path !== undefined && CATALOGUE.test(path);
}

/**
 * Returns where one side changed the text of a message and the other side its translation: lines apart, and yet the
 * translation is of another text.
 */
export function staleTranslations(
  regions: readonly Region[],
  lines: Versions<readonly string[]>,
): readonly Range[] {
  const places = {
    base: placesIn(lines.base),
    ours: placesIn(lines.ours),
    theirs: placesIn(lines.theirs),
  };
  const changes = regions.flatMap((region, index) => {
    const { kind, base } = region;
    if (kind !== 'ours' && kind !== 'theirs') return [];
    const before = places.base.slice(base.start, base.end);
    const after = places[kind].slice(region[kind].start, region[kind].end);
    // What is put in between two messages is a message of its own.
    const message = places.base[base.start === base.end ? base.start - 1 : base.start]?.message;
    const parts = new Set([...before, ...after].map(({ part }) => part));
    return [{ index, kind, message, parts }];
  });
  return changes.flatMap((one, at) => {
    const other = changes.slice(at + 1).find(({ kind, message, parts }) => {
      const isStale =
        (one.parts.has('text') && parts.has('translation')) ||
        (one.parts.has('translation') && parts.has('text'));
      return kind !== one.kind && message === one.message && isStale;
    });
    return other === undefined ? [] : [{ start: one.index, end: other.index + 1 }];
  });
}

function placesIn(lines: readonly string[]): readonly Place[] {
  let message = 0;
  let part: Place['part'] = null;
  return lines.map((line) => {
    if (line.trim() === '') {
      message++;
      part = null;
    } else if (TEXT.test(line)) part = 'text';
    else if (TRANSLATION.test(line)) part = 'translation';
    return { message, part };
  });
}
