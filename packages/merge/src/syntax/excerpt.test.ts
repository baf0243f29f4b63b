import { expect, test } from 'vitest';
import { internLines } from '../lines/interned-lines.ts';
import { mapVersions, splitLines } from '../lines/lines.ts';
import { alignRegions, linesOf } from '../lines/regions.ts';
import { mergeText } from '../merge-text.ts';
import { excerptOf, outlineOf } from './excerpt.ts';
import { parseSyntax, syntaxFault } from './parse.ts';

const method = (name: string) =>
  `\n  ${name}(a: number): number {\n    return call(a, '${name}');\n  }\n`;
const methods = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => method(`m${from + index}`)).join('');
const write = (head: string, middle: string, tail: string) =>
  `import { call } from './call.ts';\n${head}\nexport class Long {${methods(0, 60)}${middle}${methods(60, 120)}}\n${tail}`;

const BASE = write('', '', 'end();\n');

function excerpt(versions: { base: string; ours: string; theirs: string }) {
  const lines = mapVersions(versions, splitLines);
  const texts = internLines(lines);
  const regions = alignRegions(texts);
  return { lines, regions, cut: excerptOf(regions, texts, lines) };
}

test('text far from the changes is left out, and comes back', () => {
  const versions = {
    base: BASE,
    ours: write('', method('mine'), 'end();\n'),
    theirs: write('', '', 'stop();\n'),
  };
  const { lines, regions, cut } = excerpt(versions);
  expect(cut.lines.base.length).toBeLessThan(lines.base.length / 2);
  expect(cut.lines.base.join('')).toContain('export class Long {');
  const restored = cut.restore(cut.regions) ?? [];
  const told = restored.flatMap((region) => linesOf(region, lines)).join('');
  expect(told).toBe(regions.flatMap((region) => linesOf(region, lines)).join(''));
  expect(told).toBe(write('', method('mine'), 'stop();\n'));
});

test('a method that each side adds in the middle of a long class is kept', () => {
  const ours = write('', method('mine'), 'end();\n');
  const theirs = write('', method('other'), 'end();\n');
  const merged = mergeText({ base: BASE, ours, theirs }, { path: 'a.ts' });
  const both = write('', method('mine') + method('other'), 'end();\n');
  expect(merged).toEqual({ text: both, conflicts: 0 });
});

test('a name that both sides declare far from each other is still found', () => {
  const ours = write('const here = 1;\n', '', 'end();\n');
  const theirs = write('', '', 'end();\nconst here = 2;\n');
  expect(mergeText({ base: BASE, ours, theirs }, { path: 'a.ts' }).conflicts).toBe(1);
});

test('a method that both sides add to one class at different places is still found', () => {
  const at = (place: number) => {
    const name = `m${place}(`;
    const before = BASE.indexOf(`\n  ${name}`);
    return (
      BASE.slice(0, before) + method('twice').replace('call', `call${place}`) + BASE.slice(before)
    );
  };
  const merged = mergeText({ base: BASE, ours: at(20), theirs: at(100) }, { path: 'a.ts' });
  expect(merged.conflicts).toBe(1);
});

test('lines of a template are not taken for statements where a cut would part it', () => {
  const template = `const page = \`\n${Array.from({ length: 80 }, (_, index) => `a${index}();`).join('\n')}\n\`;\n`;
  const base = `import { x } from './x.ts';\n${template}one();\n`;
  const ours = base.replace('one();', 'two();');
  const theirs = base.replace('{ x }', '{ x, y }');
  const { text, conflicts } = mergeText({ base, ours, theirs }, { path: 'a.ts' });
  expect(conflicts).toBe(0);
  expect(text).toBe(ours.replace('{ x }', '{ x, y }'));
});

test.each([
  ['a bracket in a comment', '/* all { of\n   this ( is\n   told ] */\n  one();'],
  ['a bracket after a statement', 'one(); // so: {'],
  ['a bracket in a text', 'one(\'}\', "(");'],
  ['a bracket in a pattern', "one(/[{'`]\\(/g);"],
  ['a quote in a template', 'one(`it\'s "`);'],
])('what is left out parses though there is %s', (_, odd) => {
  const write = (before: string, after: string) =>
    `import { one } from './one.ts';\n${before}\nexport class Long {${methods(0, 30)}\n  odd() {\n    ${odd}\n  }\n${methods(30, 60)}}\n${after}\n`;
  const { cut } = excerpt({
    base: write('start();', 'end();'),
    ours: write('begin();', 'end();'),
    theirs: write('start();', 'stop();'),
  });
  expect(cut.lines.base.length).toBeLessThan(40);
  expect(syntaxFault(cut.lines.base.join(''), 'typescript')).toBe(null);
});

const program = (semicolon: string) => `import { a } from 'a'${semicolon}
import { b } from 'b'${semicolon}

/** Not looked at. */
export function first(): void {
  const one = a()${semicolon}
  b(one)${semicolon}
}

export class Second {
  private field = 1${semicolon}
  other(): void {
    if (this.field > 0) {
      b(this.field)${semicolon}
    }
  }
  wanted(): number {
    const one = a()${semicolon}
    const two = b(one)${semicolon}
    const three = a()${semicolon}
    const four = b(three)${semicolon}
    const five = a()${semicolon}
    return two + four + five${semicolon}
  }
}
`;

test.each([';', ''])(
  'what is wanted stays, and the heads of what it is in; statements end with %j',
  (end) => {
    const lines = splitLines(program(end));
    const wanted = lines.findIndex((line) => line.includes('four = '));
    const outline = outlineOf(lines, [{ start: wanted, end: wanted + 1 }]);
    expect(outline).toHaveLength(lines.length);
    expect(outline.filter((line) => line.trim() !== '').join('')).toBe(`import { a } from 'a'${end}
import { b } from 'b'${end}
export class Second {
  wanted(): number {
    const one = a()${end}
    const two = b(one)${end}
    const three = a()${end}
    const four = b(three)${end}
    const five = a()${end}
    return two + four + five${end}
  }
}
`);
  },
);

test('a list of types over more lines stays whole, or loses whole members', () => {
  const lines = splitLines(`interface Routes<
  Server extends object = object,
  Request extends object = object,
> {
  first(): void;
  second(): void;
  third(): void;
  fourth(): void;
  route<
    Body extends object = object,
    Query extends object = object,
    Params extends object = object,
    Headers extends object = object,
    Wanted extends Server = Server
  >(options: Options<Wanted, Request>): void;
}
`);
  const wanted = lines.findIndex((line) => line.includes('Wanted extends'));
  const outline = outlineOf(lines, [{ start: wanted, end: wanted + 1 }]);
  expect(outline.filter((line) => line.trim() !== '').join('')).toBe(`interface Routes<
  Server extends object = object,
  Request extends object = object,
> {
  route<
    Body extends object = object,
    Query extends object = object,
    Params extends object = object,
    Headers extends object = object,
    Wanted extends Server = Server
  >(options: Options<Wanted, Request>): void;
}
`);
});

test('the rest of a class parses although it uses private members that are blank', () => {
  const lines = splitLines(`class Timer {
  #start(): number {
    const start = 1;
    return start;
  }
  wanted(): number {
    return this.#start();
  }
}
`);
  const wanted = lines.findIndex((line) => line.includes('this.#start'));
  const text = outlineOf(lines, [{ start: wanted, end: wanted + 1 }]).join('');
  expect(text).not.toContain('const start');
  expect(parseSyntax(text, 'typescript', { tokens: false })).toMatchObject({ hasUndeclared: true });
  expect(syntaxFault(text, 'typescript')?.reason).toContain('#start');
});

test('a program of which all is wanted is the same array', () => {
  const lines = splitLines(program(';'));
  expect(outlineOf(lines, [{ start: -3, end: lines.length + 3 }])).toBe(lines);
});
