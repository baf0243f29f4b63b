import type { Family } from './families.ts';

/** Some edits of one list whose right result is known; `right` is empty where only a question is right. */
export type Case = {
  readonly family: string;
  readonly kind: Kind;
  readonly path: string;
  readonly base: string;
  readonly sides: readonly string[];
  readonly right: ReadonlySet<string>;
  /** Whether a question is right as well. */
  readonly mayAsk: boolean;
};

export type Kind = (typeof KINDS)[number];

/** The members that a side puts before the one at each place, and those that it changes or takes out. */
type Edit = {
  readonly inserted: ReadonlyMap<number, readonly Member[]>;
  readonly changed: ReadonlyMap<number, Member | null>;
};
type Member = { readonly key: string; readonly value: number };
type Random = () => number;
type Made = { readonly edits: readonly Edit[]; readonly outcome: 'clean' | 'ask' | 'once' };

const KINDS = [
  'two insert at one place',
  'three insert at one place',
  'two insert in two places',
  'one inserts beside a change',
  'one changes, one takes out another',
  'both insert the same',
  'both insert one key with two values',
  'both change one member',
  'one changes what the other takes out',
] as const;
const WORDS =
  'amber birch cedar delta ember fjord grove heath inlet jetty knoll larch maple north'.split(' ');

/** Makes one case; the same for the same numbers. */
export function makeCase(family: Family, kind: Kind, random: Random): Case {
  const names = shuffled(WORDS, random);
  let value = 10 + Math.floor(random() * 80);
  const fresh = (): Member => ({ key: names.pop() ?? 'other', value: value++ });
  const members = Array.from({ length: 3 + Math.floor(random() * 4) }, fresh);
  const { edits, outcome } = editsOf(kind, { members, fresh, random, family });
  const write = (some: readonly Member[]) =>
    family.write(some.map(({ key, value }) => family.item(key, value)));
  const sides = edits.map((edit) => write(applyEdits(members, [edit])));
  const merged = permutations(edits).map((order) => write(applyEdits(members, order)));
  // A member without a value is the same from both sides: it is right in either place.
  const right = outcome === 'ask' ? (hasValue(family) ? [] : sides) : merged;
  return {
    family: family.name,
    kind,
    path: family.path,
    base: write(members),
    sides,
    right: new Set(right.map(withoutBlanks)),
    mayAsk: outcome !== 'clean',
  };
}

/** Lists all kinds of edits of a family: in a list with order, only some have one right result. */
function kindsOf(family: Family): readonly Kind[] {
  return KINDS.filter((kind) => {
    if (kind.includes('change')) return hasValue(family);
    return kind !== 'both insert one key with two values' || !family.isOrdered;
  });
}

function hasValue({ item }: Family): boolean {
  return item('key', 1) !== item('key', 2);
}

/** Lists all cases, as many of each family and kind. */
export function* casesOf(
  families: readonly Family[],
  rounds: number,
  random: Random,
): Iterable<Case> {
  for (let round = 0; round < rounds; round++) {
    for (const family of families)
      for (const kind of kindsOf(family)) yield makeCase(family, kind, random);
  }
}

/** Returns a text without blank lines and space at line ends, which no kind of list gives a meaning. */
export function withoutBlanks(text: string): string {
  return text
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{2,}/g, '\n')
    .replace(/^\n/, '');
}

type Given = {
  readonly members: readonly Member[];
  readonly fresh: () => Member;
  readonly random: Random;
  readonly family: Family;
};

function editsOf(kind: Kind, { members, fresh, random, family }: Given): Made {
  const upTo = (count: number) => Math.floor(random() * count);
  const some = () => (random() < 0.5 ? [fresh()] : [fresh(), fresh()]);
  const place = upTo(members.length + 1);
  const other = (place + 1 + upTo(members.length - 1)) % members.length;
  const insert = (at: number, what: readonly Member[] = some()): Edit => ({
    inserted: new Map([[at, what]]),
    changed: new Map(),
  });
  const change = (at: number, to: Member | null): Edit => ({
    inserted: new Map(),
    changed: new Map([[at, to]]),
  });
  const within = Math.min(place, members.length - 1);
  const revalued = () => ({ key: members[within]?.key ?? '', value: 100 + upTo(800) });
  const unordered = family.isOrdered ? 'ask' : 'clean';
  switch (kind) {
    case 'two insert at one place':
      return { edits: [insert(place), insert(place)], outcome: unordered };
    case 'three insert at one place':
      return { edits: [insert(place), insert(place), insert(place)], outcome: unordered };
    case 'two insert in two places':
      return {
        edits: [insert(place), insert(other === place ? 0 : other)],
        outcome: unordered === 'ask' ? 'once' : 'clean',
      };
    case 'one inserts beside a change':
      return { edits: [insert(within + upTo(2)), change(within, revalued())], outcome: 'once' };
    case 'one changes, one takes out another': {
      const far = members.length - 1 - within;
      if (Math.abs(far - within) < 2)
        return { edits: [insert(0), change(2, null)], outcome: 'once' };
      return { edits: [change(within, revalued()), change(far, null)], outcome: 'once' };
    }
    case 'both insert the same': {
      const what = some();
      return { edits: [insert(place, what), insert(place, what)], outcome: 'once' };
    }
    case 'both insert one key with two values': {
      const one = fresh();
      const edits = [
        insert(place, [one]),
        insert(random() < 0.5 ? place : other, [{ ...one, value: 999 }]),
      ];
      return { edits, outcome: 'ask' };
    }
    case 'both change one member':
      return {
        edits: [change(within, revalued()), change(within, { ...revalued(), value: 999 })],
        outcome: 'ask',
      };
    case 'one changes what the other takes out':
      return { edits: [change(within, revalued()), change(within, null)], outcome: 'ask' };
  }
}

function applyEdits(members: readonly Member[], edits: readonly Edit[]): readonly Member[] {
  const result: Member[] = [];
  for (let place = 0; place <= members.length; place++) {
    for (const { inserted } of edits) {
      for (const member of inserted.get(place) ?? [])
        if (!result.includes(member)) result.push(member);
    }
    const own = members[place];
    if (own === undefined) continue;
    const changes = edits.flatMap(({ changed }) =>
      changed.has(place) ? [changed.get(place) ?? null] : [],
    );
    const [changed = own] = changes;
    if (changed !== null) result.push(changed);
  }
  return result;
}

function permutations<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((one, other) => one.key - other.key)
    .map(({ item }) => item);
}
