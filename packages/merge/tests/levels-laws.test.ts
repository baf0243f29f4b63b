import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Hunk } from '../src/lines/lines.ts';
import { mapVersions, splitLines } from '../src/lines/lines.ts';
import { mergeLines } from '../src/merge-lines.ts';
import { mergeTexts } from '../src/merge-text.ts';
import { duplicatesIn } from '../src/syntax/faults/duplicate-names.ts';
import type { Language } from '../src/syntax/language.ts';
import { parseSyntax } from '../src/syntax/parse.ts';
import type { Versions } from '../src/versions.ts';

const RUNS = { numRuns: 500 };
const LISTS = ['imports', 'specifiers', 'keys', 'methods', 'fields', 'members', 'calls'] as const;

/** A program as lists of names, with a value for each. */
type Program = Readonly<Record<(typeof LISTS)[number], ReadonlyMap<string, number>>>;

type Layout = {
  readonly indent: string;
  readonly quote: string;
  readonly comma: string;
  readonly end: string;
};

type Edit = {
  readonly list: (typeof LISTS)[number];
  readonly kind: 'insert' | 'remove' | 'change';
  readonly name: string;
  readonly at: number;
  readonly value: number;
};

const name = fc.constantFrom(...'abcdefgh');
const plain: Layout = { indent: '  ', quote: "'", comma: ',', end: '\n' };
const layout: fc.Arbitrary<Layout> = fc.record({
  indent: fc.constantFrom('  ', '    ', '\t'),
  quote: fc.constantFrom("'", '"'),
  comma: fc.constantFrom('', ','),
  end: fc.constantFrom('\n', '\r\n'),
});
const edit = (kinds: readonly Edit['kind'][]): fc.Arbitrary<Edit> =>
  fc.record({
    list: fc.constantFrom(...LISTS),
    kind: fc.constantFrom(...kinds),
    name,
    at: fc.nat(4),
    value: fc.nat(3),
  });
const names = fc.uniqueArray(name, { maxLength: 4 });
const program: fc.Arbitrary<Program> = fc
  .tuple(...LISTS.map(() => names))
  .map((lists) => toProgram(lists.map((list) => new Map(list.map((each) => [each, 0])))));

/** Returns a program and what two sides made of it, each in a layout of its own. */
function versionsOf(kinds: readonly Edit['kind'][], layouts: fc.Arbitrary<Layout>) {
  const edits = fc.array(edit(kinds), { maxLength: 4 });
  const drawn = fc.record({
    base: program,
    ours: edits,
    theirs: edits,
    layouts: fc.tuple(layouts, layouts),
  });
  return drawn.map(({ base, ours, theirs, layouts: [mine, other] }) => {
    const programs = {
      base,
      ours: ours.reduce(applyEdit, base),
      theirs: theirs.reduce(applyEdit, base),
    };
    const texts = {
      base: render(base, plain),
      ours: render(programs.ours, mine),
      theirs: render(programs.theirs, other),
    };
    return { programs, texts };
  });
}

const anyVersions = versionsOf(
  ['insert', 'remove', 'change'],
  fc.oneof(fc.constant(plain), layout),
);

test('a clean result parses and has no name twice, if all versions do', () => {
  let clean = 0;
  let byLines = 0;
  const law = ({ texts }: { texts: Versions<string> }) => {
    const merged = mergeTexts(texts, 'typescript');
    if (mergeTexts(texts).kind === 'clean') byLines++;
    if (merged.kind !== 'clean') return;
    clean++;
    const syntax = parseSyntax(merged.text, 'typescript', { tokens: false });
    expect(syntax).not.toBe(null);
    if (syntax !== null) expect(duplicatesIn(merged.text, syntax)).toEqual([]);
  };
  fc.assert(fc.property(anyVersions, law), { ...RUNS, seed: 1 });
  // Else there was nothing to see.
  expect(clean).toBeGreaterThan(byLines + 50);
});

test('a clean merge has everything that both sides inserted into lists', () => {
  const law = ({ programs, texts }: { programs: Versions<Program>; texts: Versions<string> }) => {
    const merged = mergeTexts(texts, 'typescript');
    if (merged.kind !== 'clean') return;
    for (const list of LISTS) {
      for (const each of [...programs.ours[list].keys(), ...programs.theirs[list].keys()]) {
        expect(merged.text).toMatch(new RegExp(`\\b${list}_${each}\\b`));
      }
    }
  };
  fc.assert(fc.property(versionsOf(['insert'], fc.constant(plain)), law), RUNS);
});

test('a side’s new layout takes the words of the other side', () => {
  let resolved = 0;
  const drawn = versionsOf(['insert', 'change'], fc.constant(plain));
  const law = (
    { programs, texts }: { programs: Versions<Program>; texts: Versions<string> },
    mine: Layout,
  ) => {
    const versions = { ...texts, ours: render(programs.base, mine) };
    const merged = mergeTexts(versions, 'typescript');
    expect(merged.kind).toBe('clean');
    if (merged.kind !== 'clean') return;
    resolved++;
    expect(lettersOf(merged.text)).toBe(lettersOf(texts.theirs));
  };
  fc.assert(fc.property(drawn, layout, law), RUNS);
  expect(resolved).toBeGreaterThan(100);
});

describe('a side that changed nothing yields the other, to the byte', () => {
  const merge = (versions: Versions<string>, language: Language) =>
    joined(mergeLines(mapVersions(versions, splitLines), language));

  test.each<Language>(['typescript', 'javascript', 'json'])('in %s', (language) => {
    const law = ({ texts: { base, ours: side } }: { texts: Versions<string> }) => {
      expect(merge({ base, ours: base, theirs: side }, language)).toBe(side);
      expect(merge({ base, ours: side, theirs: base }, language)).toBe(side);
      expect(merge({ base, ours: side, theirs: side }, language)).toBe(side);
    };
    fc.assert(fc.property(anyVersions, law), RUNS);
  });
});

function toProgram(lists: readonly ReadonlyMap<string, number>[]): Program {
  const [imports, specifiers, keys, methods, fields, members, calls] = lists;
  const none = new Map<string, number>();
  return {
    imports: imports ?? none,
    specifiers: specifiers ?? none,
    keys: keys ?? none,
    methods: methods ?? none,
    fields: fields ?? none,
    members: members ?? none,
    calls: calls ?? none,
  };
}

function applyEdit(before: Program, { list, kind, name: each, at, value }: Edit): Program {
  const entries = [...before[list]].filter(([other]) => kind === 'insert' || other !== each);
  if (kind === 'insert' && !before[list].has(each)) entries.splice(at, 0, [each, 0]);
  if (kind === 'change' && before[list].has(each))
    return withList(
      before,
      list,
      [...before[list]].map(([other, old]) => [other, other === each ? value : old]),
    );
  return withList(before, list, kind === 'change' ? [...before[list]] : entries);
}

function withList(
  before: Program,
  list: (typeof LISTS)[number],
  entries: readonly (readonly [string, number])[],
): Program {
  return { ...before, [list]: new Map(entries) };
}

function render(lists: Program, { indent, quote, comma, end }: Layout): string {
  const each = (list: (typeof LISTS)[number], line: (word: string, value: number) => string) =>
    [...lists[list]].map(([word, value]) => line(`${list}_${word}`, value));
  const listed = (lines: readonly string[]) =>
    lines.map((line, index) => indent + line + (index < lines.length - 1 ? ',' : comma));
  const quoted = (word: string | number) => quote + word + quote;
  const specifiers = each('specifiers', (word) => word);
  const lines = [
    ...each('imports', (word, value) => `import { ${word} } from ${quoted(`./${value}.ts`)};`),
    specifiers.length === 0 ? '' : `import { ${specifiers.join(', ')} } from ${quoted('./x.ts')};`,
    '',
    'const object = {',
    ...listed(each('keys', (word, value) => `${word}: ${quoted(value)}`)),
    '};',
    '',
    'enum Members {',
    ...listed(each('members', (word, value) => `${word} = ${value}`)),
    '}',
    '',
    'interface Fields {',
    ...each('fields', (word, value) => `${indent}${word}: ${quoted(value)};`),
    '}',
    '',
    'class Methods {',
    ...each(
      'methods',
      (word, value) =>
        `${indent}${word}() {${end}${indent}${indent}return ${value};${end}${indent}}`,
    ),
    '}',
    '',
    'function run() {',
    ...each('calls', (word, value) => `${indent}${word}(${value});`),
    '}',
  ];
  return lines.map((line) => line + end).join('');
}

/** Returns a text without its layout. */
function lettersOf(text: string): string {
  return text
    .replaceAll(/,(?=\s*\})/g, '')
    .replaceAll(/\s/g, '')
    .replaceAll('"', "'");
}

function joined(hunks: readonly Hunk[]): string | null {
  if (hunks.some(({ kind }) => kind === 'conflict')) return null;
  return hunks.flatMap((hunk) => (hunk.kind === 'resolved' ? hunk.lines : [])).join('');
}
