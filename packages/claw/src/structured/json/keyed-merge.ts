import type { Versions } from '@patchclaw/merge';
import { shorten } from '../canonical-value.ts';
import { orderOfTheirs } from '../key-order.ts';
import type { KeyClash } from './json-merge.ts';
import { bodyOf, isSameText, type KeyedChunk, type KeyedMap, transplant } from './keyed-lines.ts';

export const EMPTY_MAP: KeyedMap = { chunks: [], tail: [], indent: '' };

type Context = { readonly eol: string; readonly clashes: KeyClash[] };
type Place = { readonly keys: readonly string[]; readonly indents: Versions<string> };

/**
 * Merges two edits of one keyed map: what theirs changed is written into ours at ours' depth, and every
 * other line of ours stays. Comments go with the key below them. Where theirs alone changed the order of the
 * keys, that order is taken.
 *
 * @param eol the terminator of ours, for lines that come from theirs
 * @returns the lines of ours where the sides disagree, and a clash for each such key
 */
export function mergeKeyed(
  maps: Versions<KeyedMap>,
  eol: string,
): { readonly lines: readonly string[]; readonly clashes: readonly KeyClash[] } {
  const context: Context = { eol, clashes: [] };
  return { lines: mergeMap(context, [], maps), clashes: context.clashes };
}

function mergeMap(
  context: Context,
  keys: readonly string[],
  maps: Versions<KeyedMap>,
): readonly string[] {
  const { base, ours, theirs } = withTailApart(maps);
  const indents = {
    base: base.indent,
    // A map without keys has no depth of its own yet.
    ours: ours.chunks.length > 0 ? ours.indent : theirs.indent,
    theirs: theirs.indent,
  };
  const merged: { key: string; lines: readonly string[] }[] = ours.chunks.map((chunk) => ({
    key: chunk.key,
    lines: mergeChunk(
      context,
      { keys: [...keys, chunk.key], indents },
      {
        base: find(base, chunk.key),
        ours: chunk,
        theirs: find(theirs, chunk.key),
      },
    ),
  }));
  for (const [at, chunk] of theirs.chunks.entries()) {
    if (find(ours, chunk.key) !== null) continue;
    const before = theirs.chunks.slice(0, at).map(({ key }) => key);
    const neighbour = merged.findLastIndex(({ key }) => before.includes(key));
    const lines = mergeChunk(
      context,
      { keys: [...keys, chunk.key], indents },
      {
        base: find(base, chunk.key),
        ours: null,
        theirs: chunk,
      },
    );
    merged.splice(neighbour === -1 ? merged.length : neighbour + 1, 0, { key: chunk.key, lines });
  }
  const tails = { base: base.tail, ours: ours.tail, theirs: theirs.tail };
  const order = orderOfTheirs(
    merged.map(({ key }) => key),
    { base: keysOf(base), ours: keysOf(ours), theirs: keysOf(theirs) },
  );
  const ordered =
    order === null ? merged : order.flatMap((key) => merged.filter((one) => one.key === key));
  return [...ordered.flatMap(({ lines }) => lines), ...mergeComments(tails, indents, context.eol)];
}

function mergeChunk(
  context: Context,
  place: Place,
  chunks: Versions<KeyedChunk | null>,
): readonly string[] {
  const { base, ours, theirs } = chunks;
  const body = mergeBody(context, place, chunks);
  if (body === null) return ownComments(base, ours);
  if (ours === null) return [...move(theirs?.lead ?? [], place, context.eol), ...body];
  if (theirs === null) return [...ours.lead, ...body];
  // Above a key that both added, theirs may have a comment that was the file's last.
  const hasAll = base === null && endsWith(wordsOf(theirs.lead), wordsOf(ours.lead));
  if (hasAll) return [...move(theirs.lead, place, context.eol), ...body];
  const leads = { base: base?.lead ?? [], ours: ours.lead, theirs: theirs.lead };
  return [...mergeComments(leads, place.indents, context.eol), ...body];
}

/** Returns the lines of the merged key, or null where it is gone. */
function mergeBody(
  context: Context,
  place: Place,
  { base, ours, theirs }: Versions<KeyedChunk | null>,
): readonly string[] | null {
  const kept = ours === null ? null : bodyOf(ours);
  const taken = theirs === null ? null : move(bodyOf(theirs), place, context.eol);
  if (ours === null || theirs === null) {
    const present = ours ?? theirs;
    if (base === null) return kept ?? taken;
    const isSame = present === null || present.value === base.value;
    if (isSame && (ours === null || !losesComments(base, ours, null))) return null;
    return clash(context, place, { kept, ours, theirs });
  }
  const { indents } = place;
  const text = {
    base: base === null ? null : { lines: bodyOf(base), indent: indents.base },
    ours: { lines: bodyOf(ours), indent: indents.ours },
    theirs: { lines: bodyOf(theirs), indent: indents.theirs },
  };
  if (isSameText(text.ours, text.theirs)) return kept;
  if (text.base !== null && isSameText(text.base, text.theirs)) return kept;
  if (text.base !== null && isSameText(text.base, text.ours)) return taken;
  const isNew = base === null || base.isEmpty;
  if (theirs.isEmpty && isNew) return kept;
  if (ours.isEmpty && isNew) return taken;
  const maps = {
    base: insideOf(base) ?? EMPTY_MAP,
    ours: insideOf(ours),
    theirs: insideOf(theirs),
  };
  if (maps.ours !== null && maps.theirs !== null) {
    const lines = mergeMap(context, place.keys, { ...maps, ours: maps.ours, theirs: maps.theirs });
    // The side that emptied the map says how an empty one is written.
    if (lines.every((line) => line.trim() === '')) return ours.map === null ? kept : taken;
    return [...(ours.map === null ? move(theirs.head, place, context.eol) : ours.head), ...lines];
  }
  if (ours.value === theirs.value || theirs.value === base?.value) return kept;
  if (base !== null && ours.value === base.value) {
    // A comment of ours after the old value stays after the new one.
    const lines = theirs.map === null ? withComment(taken, commentBehind(base, ours)) : taken;
    if (!losesComments(base, ours, lines)) return lines;
  }
  return clash(context, place, { kept, ours, theirs });
}

/** Returns the map inside a chunk, an empty one for an empty value, or null for any other value. */
function insideOf(chunk: KeyedChunk | null): KeyedMap | null {
  if (chunk === null) return null;
  return chunk.map ?? (chunk.isEmpty ? EMPTY_MAP : null);
}

function clash(
  context: Context,
  { keys }: Place,
  sides: {
    readonly kept: readonly string[] | null;
    readonly ours: KeyedChunk | null;
    readonly theirs: KeyedChunk | null;
  },
): readonly string[] | null {
  context.clashes.push({
    keys,
    reason: `${shown(sides.ours)} on one side, ${shown(sides.theirs)} on the other`,
  });
  return sides.kept;
}

/** Merges comments. Where both sides changed one, both are kept: comments decide nothing. */
function mergeComments(
  { base, ours, theirs }: Versions<readonly string[]>,
  indents: Versions<string>,
  eol: string,
): readonly string[] {
  const sides = {
    base: { lines: base, indent: indents.base },
    ours: { lines: ours, indent: indents.ours },
    theirs: { lines: theirs, indent: indents.theirs },
  };
  if (isSameText(sides.base, sides.theirs) || isSameText(sides.ours, sides.theirs)) return ours;
  const moved = transplant(theirs, { from: indents.theirs, to: indents.ours, eol });
  if (isSameText(sides.base, sides.ours)) return moved;
  // A blank line at the end would part a comment from its key.
  const known = new Set(['', ...[...base, ...ours].map((line) => line.trim())]);
  return [...ours, ...moved.filter((line) => !known.has(line.trim()))];
}

/** Returns comments without the blank lines between them. */
function wordsOf(lines: readonly string[]): readonly string[] {
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

function endsWith(lines: readonly string[], end: readonly string[]): boolean {
  const start = lines.length - end.length;
  return start >= 0 && end.every((line, at) => line === lines[start + at]);
}

function move(lines: readonly string[], { indents }: Place, eol: string): readonly string[] {
  return transplant(lines, { from: indents.theirs, to: indents.ours, eol });
}

function keysOf({ chunks }: KeyedMap): readonly string[] {
  return chunks.map(({ key }) => key);
}

function find(map: KeyedMap, key: string): KeyedChunk | null {
  return map.chunks.find((chunk) => chunk.key === key) ?? null;
}

function shown(chunk: KeyedChunk | null): string {
  return chunk === null ? 'taken out' : shorten(bodyOf(chunk).join(' '));
}

/** Returns the comments that ours wrote above a key that goes: the key's own comment goes with it. */
function ownComments(base: KeyedChunk | null, ours: KeyedChunk | null): readonly string[] {
  const known = new Set(base?.lead.map((line) => line.trim()));
  const lead = ours?.lead ?? [];
  return lead.filter((line) => line.trim() !== '' && !known.has(line.trim()));
}

/** Returns the comment that ours wrote after a value of one line; empty where more than that differs. */
function commentBehind(base: KeyedChunk, ours: KeyedChunk): string {
  const [before, after] = [base, ours].map((chunk) => bodyOf(chunk).join('').trim());
  if (before === undefined || after === undefined || before.includes('\n')) return '';
  const rest = after.startsWith(before) ? after.slice(before.length) : '';
  return /^\s+#[^\n]*$/.test(rest) ? rest : '';
}

/** Adds a comment after a line, where it has none yet. */
function withComment(lines: readonly string[] | null, comment: string): readonly string[] | null {
  const [line] = lines ?? [];
  if (lines?.length !== 1 || line === undefined || /\s#/.test(line)) return lines;
  return [line.trimEnd() + comment + line.slice(line.trimEnd().length)];
}

/** Tells whether ours has comments in the lines of a key that neither base nor the merged lines have. */
function losesComments(
  base: KeyedChunk,
  ours: KeyedChunk,
  lines: readonly string[] | null,
): boolean {
  const known = new Set([...commentsOf(bodyOf(base)), ...commentsOf(lines ?? [])]);
  return commentsOf(bodyOf(ours)).some((comment) => !known.has(comment));
}

function commentsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => /(?:^|\s)(#.*)/.exec(line.trim())?.[1]?.trim() ?? []);
}

/** No key of a file can be this. */
const TAIL_KEY = '\0';

/**
 * Takes the comments at the end of base out of the chunks that the sides have added after them. A comment
 * counts as the next key's, so each side would have them above another key, and a merge above both.
 */
function withTailApart({ base, ours, theirs }: Versions<KeyedMap>): Versions<KeyedMap> {
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
