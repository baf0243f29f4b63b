import { expect, test } from 'vitest';
import { mergeText } from '../merge-text.ts';
import type { Versions } from '../versions.ts';

/** A declaration of a made-up file; neighbours mostly have the same body. */
type Declared = { readonly name: string; readonly body: readonly string[] };

type Random = () => number;
type Edit = (file: readonly Declared[], random: Random) => readonly Declared[];
type Render = (file: readonly Declared[]) => readonly string[];

const NAMES = ['open', 'close', 'read', 'write'];
const LINES = ['const a = load(x);', 'check(a);', 'if (!a) return;', 'send(a);', 'return a;'];
const FILES_PER_LANGUAGE = 150;

const LANGUAGES: Readonly<Record<string, Render>> = {
  'functions.ts': (file) => apart(file.map((each) => braces(each, 'export function ', ''))),
  'methods.ts': (file) => [
    'class A {',
    ...indented(apart(file.map((each) => braces(each, '', '')))),
    '}',
  ],
  // The lines that begin these are the same for all of them: only their names tell them apart.
  'split-functions.ts': (file) =>
    apart(file.map((each) => ['export function', ...braces(each, '  ', '')])),
  'split-constants.ts': (file) =>
    apart(
      file.map(({ name, body }) => [
        'export const',
        `  ${name}: Handle = (x) => {`,
        ...indented(body),
        '};',
      ]),
    ),
  'split-classes.ts': (file) =>
    apart(
      file.map(({ name, body }) => [
        'export class',
        `  ${name}`,
        '{',
        ...indented(braces({ name: 'run', body }, '', '')),
        '}',
      ]),
    ),
  'members.js': (file) => [
    'const o = {',
    ...indented(file.flatMap((each) => braces(each, '', ','))),
    '};',
  ],
  'functions.py': (file) =>
    apart(file.map(({ name, body }) => [`def ${name}(x):`, ...indented(body)])),
  'functions.c': (file) =>
    apart(file.map(({ name, body }) => [`int ${name}(int x)`, '{', ...indented(body), '}'])),
  'methods.rs': (file) => [
    'impl A {',
    ...indented(apart(file.map((each) => braces(each, 'pub fn ', '')))),
    '}',
  ],
  'packages.lock': (file) =>
    apart(file.map(({ name, body }) => ['[[package]]', `name = ${name}`, ...body])),
  'keys.yaml': (file) => file.flatMap(({ name, body }) => [`${name}:`, ...indented(body)]),
};

const MOVES: readonly Edit[] = [
  (file, random) => {
    const from = pick(file.length, random);
    const rest = file.toSpliced(from, 1);
    return rest.toSpliced(pick(rest.length + 1, random), 0, ...file.slice(from, from + 1));
  },
  (file, random) => {
    const name = `fresh${pick(90, random)}`;
    const body = file[pick(file.length, random)]?.body ?? [];
    return file.toSpliced(pick(file.length + 1, random), 0, { name, body });
  },
];

const EDITS: readonly Edit[] = [
  inBody((body, random) => body.toSpliced(pick(body.length, random), 1, `put(${random()});`)),
  inBody((body, random) => body.toSpliced(pick(body.length + 1, random), 0, `put(${random()});`)),
  inBody((body, random) => body.toSpliced(pick(body.length, random), body.length > 1 ? 1 : 0)),
];

test.each(Object.entries(LANGUAGES))(
  'an edit stays in the declaration that it was made in, however the other side moves it: %s',
  (path, render) => {
    const random = seededRandom(7);
    let clean = 0;
    for (let count = 0; count < FILES_PER_LANGUAGE; count++) {
      const files = draw(random);
      const texts = {
        base: textOf(render(files.base)),
        ours: textOf(render(files.ours)),
        theirs: textOf(render(files.theirs)),
      };
      const { text, conflicts } = mergeText(texts, { path });
      const swapped = mergeText({ ...texts, ours: texts.theirs, theirs: texts.ours }, { path });
      expect(swapped.conflicts).toBe(conflicts);
      if (conflicts > 0) continue;
      clean++;
      expect(swapped.text).toBe(text);
      expect(bodiesIn(text)).toEqual(bodiesIn(textOf(render(wanted(files)))));
    }
    // Else there was nothing to see.
    expect(clean).toBeGreaterThan(FILES_PER_LANGUAGE / 2);
  },
);

/** Returns a file, and what two sides made of it: one moved and added declarations, one edited bodies. */
function draw(random: Random): Versions<readonly Declared[]> {
  const body = LINES.slice(0, 2 + pick(4, random));
  const own = (name: string) =>
    random() < 0.75 ? body : body.map((line) => line.replace(/\ba\b/, name));
  const base = NAMES.slice(0, 2 + pick(3, random)).map((name) => ({ name, body: own(name) }));
  const side = (edits: readonly Edit[]) => {
    const once = (file: readonly Declared[]) =>
      edits[pick(edits.length, random)]?.(file, random) ?? file;
    return random() < 0.5 ? once(base) : once(once(base));
  };
  return { base, ours: side(MOVES), theirs: side(EDITS) };
}

/** Returns the declarations of the side that moved them, with the bodies of the one that edited them. */
function wanted({ ours, theirs }: Versions<readonly Declared[]>): readonly Declared[] {
  return ours.map(({ name, body }) => {
    const edited = theirs.find((other) => other.name === name);
    return { name, body: edited?.body ?? body };
  });
}

/** Returns the lines below each name, in order of the names. */
function bodiesIn(text: string): readonly string[] {
  const heads = new RegExp(`^(?=.*\\b(?:${NAMES.join('|')}|fresh\\d+)(?:[(:]|$))`, 'm');
  const [, ...declared] = text.split(heads);
  return declared
    .map((each) => each.replaceAll(/^\s*(?:[{}][,;]?|\[\[package\]\]|)\n/gm, ''))
    .toSorted();
}

function inBody(edit: (body: readonly string[], random: Random) => readonly string[]): Edit {
  return (file, random) => {
    const index = pick(file.length, random);
    return file.map((each, place) =>
      place === index ? { ...each, body: edit(each.body, random) } : each,
    );
  };
}

function braces({ name, body }: Declared, before: string, after: string): readonly string[] {
  return [`${before}${name}(x) {`, ...indented(body), `}${after}`];
}

function apart(blocks: readonly (readonly string[])[]): readonly string[] {
  return blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? line : `  ${line}`));
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function pick(count: number, random: Random): number {
  return Math.floor(random() * count);
}

/** Returns numbers in [0, 1) that are the same in every run. */
function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
