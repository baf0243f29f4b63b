import { expect, test } from 'vitest';
import { splitLines } from '../lines/lines.ts';
import { namesByLines } from './edits-in-wrong-declaration.ts';

const textsIn = (text: string) =>
  Object.fromEntries(
    [...(namesByLines(splitLines(text)) ?? [])].map(([name, one]) => [name, one.text]),
  );

test('declarations and members of classes are told by lines, with what is in them and no comment below', () => {
  const text =
    "import a from 'a';\n\n// About it.\nexport const {\n  b,\n  c,\n} = a;\n\ntest('d', () => {\n  const e = 1;\n});\n" +
    'export default class F {\n  static g = 1;\n\n  // Next.\n  get h() {\n    return 1;\n  }\n}\n';
  const pattern = 'export const {\n  b,\n  c,\n} = a;\n\n';
  expect(textsIn(text)).toMatchObject({
    b: pattern,
    c: pattern,
    'default.static g': '  static g = 1;\n\n',
    'default.get h': '  get h() {\n    return 1;\n  }\n\n',
  });
});

test('in doubt the check says nothing: brackets that do not match, decorators', () => {
  expect(namesByLines(splitLines('const a = (1;\n'))).toBe(null);
  expect(namesByLines(splitLines('@b\nclass A {\n}\n'))).toBe(null);
});
