import { expect, test } from 'vitest';
import type { PackedEdit } from './renames.ts';
import { testStub } from './test-stub.ts';

function edit(path: string, before: string | null, after: string): PackedEdit {
  const file = (text: string) => ({ bytes: Buffer.from(text), isExecutable: false });
  return { path, before: before === null ? null : file(before), after: file(after) };
}

test('the title of a begun test says what it looks at, also of what the core has already', () => {
  const edits = [edit('src/a.ts', 'export const one = 1;\n', 'export const one = 2;\n')];
  const stub = testStub('dice', 'vitest run', edits);
  expect(stub).toContain("test('with dice, src/a.ts exports one'");
  expect(stub).toContain("assert.ok('one' in subject);");
  const text = testStub('dice', 'vitest run', [edit('notes.txt', 'a\n', 'a\nb\n')]);
  expect(text).toContain("test('with dice, notes.txt holds a line that it writes'");
  expect(text).toContain("assert.ok(text.includes('b'));");
});
