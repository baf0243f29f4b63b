import { expect, test } from 'vitest';
import { mergeFault } from './text-fault.ts';

const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });
const fault = (path: string, merged: string, ...sides: string[]) =>
  mergeFault(path, file(merged), sides.map(file));

test.each([
  ['a.ts', 'let a: number = 1\n', 'let a = 1;\nfoo(\n', 3],
  ['a.tsx', 'const a = <b />;\n', 'const a = <b>;\n', 1],
  ['a.js', 'const a = 1;\n', 'const a = ;\n', 1],
  ['a.json', '{ "a": 1 }', '{\n  "a": 1,\n}', 3],
  ['a.jsonc', '{ "a": 1, /* why */ }', '{\n  "a": 1,\n  "b"\n}', 4],
  ['a.yaml', 'a: 1\n', 'a: 1\nb: "x\n', 3],
])('%s that does not parse is told by its line', (path, side, merged, line) => {
  expect(fault(path, side, side)).toBe(null);
  expect(fault(path, merged, side)).toMatchObject({ line, reason: expect.stringMatching(/\w/) });
});

test('what a side could not be read for either is no fault of the answer’s', () => {
  expect(fault('a.ts', 'foo(', 'bar(')).toBe(null);
  expect(fault('a.json', '{ "a": 1, } // why', '{ "a": 2, }')).toBe(null);
  expect(fault('a.json', '{ "a": 1, }', '{ "a": 2 }')).not.toBe(null);
  expect(fault('a.md', '{', '')).toBe(null);
});
