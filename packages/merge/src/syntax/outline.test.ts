import { expect, test } from 'vitest';
import { splitLines } from '../lines/lines.ts';
import { outlineOf } from './outline.ts';
import { parseSyntax, syntaxFault } from './parse.ts';

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

test('what is left of a class parses although it uses private members that are blank', () => {
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
