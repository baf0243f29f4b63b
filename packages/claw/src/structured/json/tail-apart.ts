import type { Versions } from '@patchclaw/merge';
import type { KeyedChunk, KeyedMap } from './keyed-lines.ts';

/** No key of a file can be this. */
const TAIL_KEY = '\0';

/**
 * Takes the comments at the end of base out of the chunks that the sides have added after them. A comment
 * counts as the next key's, so each side would have them above another key, and a merge above both.
 */
export function withTailApart({ base, ours, theirs }: Versions<KeyedMap>): Versions<KeyedMap> {
  const tail = withoutBlankEnd(base.tail);
  const known = new Set(base.chunks.map(({ key }) => key));
  const apart = [base, ours, theirs].map((map) => splitAt(map, tail, known));
  const [inBase, inOurs, inTheirs] = apart;
  if (tail.length === 0 || !inBase || !inOurs || !inTheirs) return { base, ours, theirs };
  return { base: inBase, ours: inOurs, theirs: inTheirs };
}

/** Returns a map whose lines of a tail are a chunk of their own; null where it does not have them in one place. */
function splitAt(
  map: KeyedMap,
  tail: readonly string[],
  known: ReadonlySet<string>,
): KeyedMap | null {
  const own: KeyedChunk = {
    key: TAIL_KEY,
    lead: [],
    head: [],
    map: null,
    value: '',
    isEmpty: false,
  };
  const { chunks } = map;
  if (beginsWith(map.tail, tail)) {
    const lead = map.tail.slice(0, tail.length);
    return { ...map, chunks: [...chunks, { ...own, lead }], tail: map.tail.slice(tail.length) };
  }
  const at = chunks.findIndex(({ key, lead }) => !known.has(key) && beginsWith(lead, tail));
  const next = chunks[at];
  if (next === undefined) return null;
  const lead = next.lead.slice(0, tail.length);
  const rest = { ...next, lead: next.lead.slice(tail.length) };
  return {
    ...map,
    chunks: [...chunks.slice(0, at), { ...own, lead }, rest, ...chunks.slice(at + 1)],
  };
}

function beginsWith(lines: readonly string[], start: readonly string[]): boolean {
  return start.every((line, at) => line.trim() === lines[at]?.trim());
}

function withoutBlankEnd(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line.trim() !== '') + 1);
}
