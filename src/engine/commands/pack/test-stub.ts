import { changedLines } from '../../merge/lines/changed-lines.ts';
import { splitLines } from '../../merge/lines/lines.ts';
import { TEST_NOTE } from '../../package/templates.ts';
import type { TreeFile } from '../../tree.ts';
import type { PackedEdit } from './renames.ts';

const MODULE = /\.[cm]?[jt]s$/;
const TEST = /[._](test|spec)\.[cm]?[jt]sx?$/;

/**
 * Returns a first test of a skill for its author to extend. It imports a module of the skill and checks its
 * exports, or looks for a line that the skill writes. Null where the test command takes other files than
 * TypeScript, as far as is known, or there is nothing to look for.
 */
export function testStub(
  name: string,
  testCommand: string,
  edits: readonly PackedEdit[],
): string | null {
  if (!/\b(vitest|node)\b/.test(testCommand)) return null;
  const runner = /\bvitest\b/.test(testCommand) ? 'vitest' : 'node:test';
  const present = edits.filter(({ path, after }) => after !== null && !TEST.test(path));
  const sorted = [...present].sort(
    (one, other) => Number(one.before !== null) - Number(other.before !== null),
  );
  const imported = sorted.flatMap(({ path, after }) => {
    const names = exportsOf(path, after);
    return names.length === 0 ? [] : [{ path, names }];
  })[0];
  const note = `${TEST_NOTE} ${name} is applied.`;
  if (imported) {
    const { path, names } = imported;
    return [
      "import assert from 'node:assert/strict';",
      `import { test } from '${runner}';`,
      `import * as subject from ${quoted(`../../../${path}`)};`,
      '',
      note,
      `test(${quoted(`with ${name}, ${path} exports ${names.join(', ')}`)}, () => {`,
      ...names.map((one) => `  assert.ok(${quoted(one)} in subject);`),
      '});',
      '',
    ].join('\n');
  }
  const written = sorted.flatMap((edit) => {
    const line = lineOf(edit);
    return line === null ? [] : [{ path: edit.path, line }];
  })[0];
  if (written === undefined) return null;
  const { path, line } = written;
  return [
    "import assert from 'node:assert/strict';",
    "import { readFileSync } from 'node:fs';",
    `import { test } from '${runner}';`,
    '',
    note,
    `test(${quoted(`with ${name}, ${path} holds a line that it writes`)}, () => {`,
    // Tests run at the top of the tree.
    `  const text = readFileSync(${quoted(path)}, 'utf8');`,
    `  assert.ok(text.includes(${quoted(line)}));`,
    '});',
    '',
  ].join('\n');
}

/** Returns the names that a module exports; none for one that runs on import, which exports nothing. */
function exportsOf(path: string, file: TreeFile | null): readonly string[] {
  if (file === null || !MODULE.test(path) || path.endsWith('.d.ts')) return [];
  const text = file.bytes.toString('utf8');
  const names = [
    ...text.matchAll(
      /^export\s+(?:async\s+)?(?:const|let|function\*?|class)\s+([A-Za-z_$][\w$]*)/gm,
    ),
  ].flatMap(([, name]) => name ?? []);
  return [...new Set(names)].slice(0, 3);
}

/** Returns a line of an edited text that was not there before. */
function lineOf({ before, after }: PackedEdit): string | null {
  if (after === null || after.bytes.includes(0)) return null;
  const lines = splitLines(after.bytes.toString('utf8'));
  const known = new Set(
    splitLines(before?.bytes.toString('utf8') ?? '').map((line) => line.trim()),
  );
  const fresh = changedLines(before?.bytes ?? null, after.bytes).flatMap(([from, to]) =>
    lines.slice(from - 1, to).map((line) => line.trim()),
  );
  return fresh.find((line) => line !== '' && !known.has(line)) ?? null;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`;
}
