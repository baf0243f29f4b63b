import { mapVersions, NAMES } from '../lines/lines.ts';
import type { Borders, LineSpan } from '../lines/regions.ts';
import { type Order, orderOfNames } from '../lines/sorted-lines.ts';
import type { Versions } from '../versions.ts';
import type { Language } from './language.ts';
import { keyOf, type Unit, unitsOf } from './member-units.ts';
import { type ListKind, lazily, listsOf, type NamedList } from './named-lists.ts';
import { lineFrom, type Side, type Sides, spanOf } from './parsed-side.ts';
import { type Gaps, gapsOf, type KeyedUnit, spliceUnits } from './splice-units.ts';
import { countWords, isSameWords, type Word, wordsBetween } from './syntax-words.ts';

/** Imports are ordered by more than the names they bring, classes by what their members do. */
const UNSORTED: ReadonlySet<ListKind> = new Set(['imports', 'class']);

/** In these a member says the same at any place among others with names. */
const ANY_ORDER: ReadonlySet<ListKind> = new Set(['specifiers', 'pattern', 'object', 'interface']);

/** The value of a member of an enum. */
const VALUE = /=\s*(.+)$/s;

/** All lists of the three versions, outer ones first, and the units of each, read once. */
export type Lists = Versions<readonly NamedList[]> & {
  readonly unitsOf: (side: Side, list: NamedList) => readonly Unit[];
};

/** One list of one version, and the part of it that is in dispute. */
type Part = {
  readonly side: Side;
  readonly list: NamedList;
  /** The disputed stretch. */
  readonly span: LineSpan;
  /** The part of the disputed stretch that is inside the list. */
  readonly inside: LineSpan;
  /** All units of the list. */
  readonly units: readonly Unit[];
  /** Reads the words of the disputed stretch, once for all lists in it; null where one crosses its edge. */
  readonly said: () => UnitWords | null;
};

type UnitWords = { readonly words: readonly Word[]; readonly count: number };

/** A text with the insertions of both sides, and the number of words that it must have. */
export type Insertion = { readonly text: string; readonly words: number };

/** Finds the lists of three versions. */
export function listsIn(sides: Sides): Lists {
  const known = new Map<NamedList, readonly Unit[]>();
  const unitsIn = (side: Side, list: NamedList) => {
    const units = known.get(list) ?? unitsOf(side, list);
    known.set(list, units);
    return units;
  };
  const lists = mapVersions(sides, ({ syntax, text }) => listsOf(syntax.root, text));
  return { ...lists, unitsOf: unitsIn };
}

/** Returns the lines at which a member of a list begins, or its list ends. */
export function bordersOf(sides: Sides, lists: Lists): Borders {
  return mapVersions(NAMES, (name) => {
    const side = sides[name];
    const borders = new Set<number>();
    const add = (offset: number) => {
      borders.add(lineFrom(side, offset));
    };
    for (const list of lists[name]) {
      for (const unit of lists.unitsOf(side, list)) {
        add(unit.start);
        add(unit.end);
      }
    }
    return borders;
  });
}

/** Returns the same for each list around a stretch of the base by itself, innermost first: members in it are no borders. */
export function* bordersAround(
  region: Versions<LineSpan>,
  sides: Sides,
  lists: Lists,
): Iterable<Borders> {
  const span = spanOf(sides.base, region.base);
  const around = lists.base.filter(({ open, close }) => open <= span.start && span.end <= close);
  for (const { kind, path } of around.toReversed()) {
    const found = mapVersions(NAMES, (name) => {
      const side = sides[name];
      const list = lists[name].find((one) => one.kind === kind && one.path === path);
      if (list === undefined) return null;
      const units = lists.unitsOf(side, list);
      return new Set(
        units.flatMap(({ start, end }) => [start, end]).map((at) => lineFrom(side, at)),
      );
    });
    const { base, ours, theirs } = found;
    if (base !== null && ours !== null && theirs !== null) yield { base, ours, theirs };
  }
}

/**
 * Keeps the members that both sides inserted into one list: ours first, then theirs, in each gap between the members
 * of the base. From a JSON object, one side may also have removed members that the other left unchanged.
 *
 * @returns the text for the stretch; null where a side did more, where a member has no name, or where a name would
 *   occur twice
 */
export function mergeInsertions(
  region: Versions<LineSpan>,
  sides: Sides,
  lists: Lists,
  language: Language,
): Insertion | null {
  for (const parts of matchingLists(region, sides, lists)) {
    const merged = mergeMembers(parts) ?? (language === 'json' ? mergeWithDeletions(parts) : null);
    if (merged !== null) return merged;
  }
  return null;
}

/** Returns the innermost list around the stretch, then those inside it, each in all three versions. */
function* matchingLists(
  region: Versions<LineSpan>,
  sides: Sides,
  lists: Lists,
): Iterable<Versions<Part>> {
  const found = mapVersions(NAMES, (name) => {
    const side = sides[name];
    const span = spanOf(side, region[name]);
    const around = lists[name].findLast(
      ({ open, close }) => open <= span.start && span.end <= close,
    );
    const within = lists[name].filter(({ open, close }) => span.start < open && close < span.end);
    const candidates = around === undefined ? within : [around, ...within];
    const said = lazily(() => {
      const words = wordsBetween(side.words, span.start, span.end);
      return words && { words, count: countWords(words) };
    });
    return candidates.map((list): Part => {
      const inside = list === around ? span : { start: list.open, end: list.close };
      return { side, list, span, inside, units: lists.unitsOf(side, list), said };
    });
  });
  const keyed = ({ list }: Part) => `${list.kind} ${list.path}`;
  const [bases, others] = [found.base, found.theirs].map(
    (parts) => new Map(parts.toReversed().map((part) => [keyed(part), part])),
  );
  for (const ours of found.ours) {
    const [base, theirs] = [bases?.get(keyed(ours)), others?.get(keyed(ours))];
    if (base !== undefined && theirs !== undefined) yield { base, ours, theirs };
  }
}

function mergeMembers(parts: Versions<Part>): Insertion | null {
  const { base, ours, theirs } = mapVersions(parts, disputeIn);
  if (base === null || ours === null || theirs === null) return null;
  const mine = gapsOf(base.units, ours.units);
  const other = gapsOf(base.units, theirs.units);
  if (mine === null || other === null || !isInsertion(mine) || !isInsertion(other)) return null;
  const words = mapVersions(parts, ({ said }) => said());
  if (words.base === null || words.ours === null || words.theirs === null) return null;
  const around = {
    base: countAround(parts.base, base.units, words.base),
    ours: countAround(parts.ours, ours.units, words.ours),
    theirs: countAround(parts.theirs, theirs.units, words.theirs),
  };
  // Tells most lists in a stretch apart from the one that was changed, in a moment.
  if (around.base !== around.ours || around.base !== around.theirs) return null;
  const outside = wordsAround(words.base, base.units);
  const isSame = [
    wordsAround(words.ours, ours.units),
    wordsAround(words.theirs, theirs.units),
  ].every((some) => isSameWords(outside, some));
  if (!isSame) return null;
  // An import goes before declarations, wherever the other side has its own.
  const kinds = new Set([...mine, ...other].flat().map(({ member }) => member.isDeclaration));
  if (kinds.size > 1) return null;
  // What one side took out, and the other one only moved, is no insertion.
  if (![mine, other].every((gaps) => isApart(gaps.flat(), parts.base.list))) return null;
  const isFree = ANY_ORDER.has(parts.ours.list.kind) && [base, ours, theirs].every(hasNames);
  const fresh = missingFrom(mine, other, isFree);
  const own = missingFrom(other, mine, isFree);
  if (fresh.length === 0) return { text: textIn(parts.ours), words: words.ours.count };
  if (own.length === 0) return { text: textIn(parts.theirs), words: words.theirs.count };
  const isShared = fresh.length < other.flat().length;
  if (isShared || !isApart(fresh, parts.ours.list) || !isApart(own, parts.theirs.list)) return null;
  if (
    parts.ours.list.kind === 'enum' &&
    isSameValue(textsOf(parts.ours.side, own), textsOf(parts.theirs.side, fresh))
  )
    return null;
  const { skipped } = ours;
  const [target, source] = [
    { ...parts.ours, gaps: mine, skipped },
    { side: parts.theirs.side, gaps: other },
  ];
  const order = orderOf([parts.base.list, parts.ours.list, parts.theirs.list]);
  const sorted = order === null ? null : spliceUnits(target, source, order);
  const text = sorted ?? spliceUnits(target, source, null);
  if (text === null) return null;
  const joined = joinImports(
    text,
    textsOf(target.side, mine.flat()),
    textsOf(source.side, other.flat()),
  );
  return {
    text: joined.text,
    words: words.ours.count + words.theirs.count - words.base.count - joined.saved,
  };
}

/** An import of names on one line. */
const IMPORT = /^import (type )?\{ ([^{}]+) \} from (['"].*['"];?)$/;
/** Words of an import apart from its names. */
const FRAME = ['import', '{', '}', 'from', 'module'].length;
/** A longer line would be laid out otherwise. */
const MAX_LENGTH = 100;

/**
 * Joins imports that ours and theirs put in of the same module, so that the module is named once. Only what is a
 * line of its own in the text, and once, is joined.
 *
 * @returns the text, and how many words fewer it has
 */
function joinImports(
  text: string,
  ours: readonly string[],
  theirs: readonly string[],
): { readonly text: string; readonly saved: number } {
  const lines = text.split('\n');
  let saved = 0;
  for (const own of ours) {
    const [, type = '', names = '', module] = IMPORT.exec(own) ?? [];
    const fresh = theirs.flatMap((line) => {
      const [, otherType = '', otherNames = '', other] = IMPORT.exec(line) ?? [];
      const isSame = module !== undefined && other === module && otherType === type;
      return isSame ? [{ line, names: otherNames }] : [];
    });
    const [other] = fresh;
    if (other === undefined || fresh.length > 1) continue;
    const joined = `import ${type}{ ${names}, ${other.names} } from ${module}`;
    const isOnce = [own, other.line].every(
      (line) => lines.filter((one) => one === line).length === 1,
    );
    if (!isOnce || joined.length > MAX_LENGTH) continue;
    lines[lines.indexOf(own)] = joined;
    lines.splice(lines.indexOf(other.line), 1);
    saved += FRAME + (type === '' ? 0 : 1);
  }
  return { text: lines.join('\n'), saved };
}

/**
 * Merges what both sides inserted into an object of which one of them took members out. The text is that side's, with
 * the other side's members put in.
 */
function mergeWithDeletions(parts: Versions<Part>): Insertion | null {
  const { base, ours, theirs } = mapVersions(parts, disputeIn);
  if (base === null || ours === null || theirs === null || parts.base.list.kind !== 'object')
    return null;
  const goneFrom = ({ units }: { readonly units: readonly KeyedUnit[] }) => {
    const left = new Set(units.map(({ key }) => key));
    return new Set(base.units.map(({ key }) => key).filter((key) => !left.has(key)));
  };
  const gone = [goneFrom(ours), goneFrom(theirs)] as const;
  const isOurs = gone[0].size > 0;
  if (isOurs === gone[1].size > 0) return null;
  const taken = isOurs ? gone[0] : gone[1];
  // An object that is left empty does not tell how its members are laid out.
  if ((isOurs ? ours : theirs).units.length === 0) return null;
  const left = (units: readonly KeyedUnit[]) => units.filter(({ key }) => !taken.has(key));
  const mine = gapsOf(left(base.units), left(ours.units));
  const other = gapsOf(left(base.units), left(theirs.units));
  const words = mapVersions(parts, ({ said }) => said());
  if (mine === null || other === null) return null;
  if (words.base === null || words.ours === null || words.theirs === null) return null;
  const around = [
    wordsAround(words.base, base.units),
    wordsAround(words.ours, ours.units),
    wordsAround(words.theirs, theirs.units),
  ] as const;
  if (!isSameWords(around[0], around[1]) || !isSameWords(around[0], around[2])) return null;
  const put = [...mine.flat(), ...other.flat()];
  if (put.some(({ member }) => member.names === null)) return null;
  // A key that one side took out and the other changed, or that both put in, is a question.
  if (!isApart(put, parts.base.list)) return null;
  if (!isApart(mine.flat(), parts.theirs.list) || !isApart(other.flat(), parts.ours.list))
    return null;
  const [target, source] = isOurs
    ? [
        { ...parts.ours, gaps: mine, skipped: ours.skipped },
        { side: parts.theirs.side, gaps: other },
      ]
    : [
        { ...parts.theirs, gaps: other, skipped: theirs.skipped },
        { side: parts.ours.side, gaps: mine },
      ];
  // Ours come first, whoever's text it is.
  const text = spliceUnits(target, source, isOurs ? null : () => true);
  const count = words.ours.count + words.theirs.count - words.base.count;
  return text === null ? null : { text, words: count };
}

/** Returns the units in the disputed stretch, and how many are before; null where one crosses an edge. */
function disputeIn({ side, inside, units: all }: Part) {
  const units = all
    .filter(({ member, end }) => member.start < inside.end && end > inside.start)
    .map((unit) => ({ ...unit, key: keyOf(side, unit) }));
  const isWhole = units.every(
    ({ member, end }) => member.start >= inside.start && end <= inside.end,
  );
  if (!isWhole) return null;
  const skipped = all.filter(({ member }) => member.end <= inside.start).length;
  return { units, skipped };
}

/** Counts the words of the disputed stretch outside its units, which have no gaps between them. */
function countAround({ side }: Part, units: readonly Unit[], { count }: UnitWords): number {
  const [first, last] = [units[0], units.at(-1)];
  if (first === undefined || last === undefined) return count;
  return count - countWords(wordsBetween(side.words, first.start, last.end) ?? []);
}

function wordsAround({ words }: UnitWords, units: readonly Unit[]): readonly Word[] {
  const [first, last] = [units[0], units.at(-1)];
  return words.filter(
    ({ start }) =>
      first === undefined || last === undefined || start < first.start || start >= last.end,
  );
}

function isInsertion(gaps: Gaps): boolean {
  const inserted = gaps.flat();
  return inserted.length > 0 && inserted.every(({ member }) => member.names !== null);
}

/**
 * Returns the members that one side inserted and the other did not insert into the same gap, or into any where their
 * places say nothing.
 */
function missingFrom(gaps: Gaps, others: Gaps, isFree: boolean): readonly KeyedUnit[] {
  const all = isFree ? new Set(gaps.flat().map(({ key }) => key)) : null;
  return others.flatMap((run, gap) => {
    const known = all ?? new Set(gaps[gap]?.map(({ key }) => key));
    return run.filter(({ key }) => !known.has(key));
  });
}

function hasNames({ units }: { readonly units: readonly Unit[] }): boolean {
  return units.every(({ member }) => member.names !== null);
}

function textIn({ side, span }: Part): string {
  return side.text.slice(span.start, span.end);
}

/**
 * Tells whether members of an enum get a value that others get, too: both sides took the next one, in writing or by
 * leaving it to the language.
 */
function isSameValue(some: readonly string[], others: readonly string[]): boolean {
  const value = (text: string) => VALUE.exec(text)?.[1] ?? '';
  const known = new Set(some.map(value));
  return others.some((text) => known.has(value(text)));
}

function textsOf(side: Side, units: readonly KeyedUnit[]): readonly string[] {
  return units.map(({ member }) => side.text.slice(member.start, member.end));
}

/** Tells whether a list has none of the names that the units would bring. */
function isApart(units: readonly KeyedUnit[], { members }: NamedList): boolean {
  const taken = new Set(members().flatMap(({ names }) => names ?? []));
  return units.every(({ member }) => member.names?.every((name) => !taken.has(name)));
}

/** Finds the order by name in which all versions of a list are; null where there is none. */
function orderOf(versions: readonly NamedList[]): Order | null {
  if (versions.some(({ kind }) => UNSORTED.has(kind))) return null;
  return orderOfNames(
    versions.map(({ members }) => members().map(({ names }) => names?.[0] ?? null)),
  );
}
