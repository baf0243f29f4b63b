import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const HOME = join(import.meta.dirname, '..');
const CONCURRENT = /\b(?:test|it|describe)\b[^;\n]*\.concurrent\b|\bconcurrent: true\b/;
const GLOBAL_END = /import \{[^}]*\bonTest(?:Finished|Failed)\b[^}]*\} from 'vitest'/;

/**
 * The functions that Vitest exports belong to the test that began last, which is another one where tests run at the
 * same time: what that removes at its end is then still in use.
 */
test('tests that run at the same time clean up by their own context', () => {
  const concurrent = testFiles().filter((path) => CONCURRENT.test(read(path)));
  expect(concurrent.length).toBeGreaterThan(10);
  const wrong = concurrent.filter((path) =>
    [...withHelpers(path)].some((each) => GLOBAL_END.test(read(each))),
  );
  expect(wrong).toEqual([]);
});

function testFiles(): readonly string[] {
  return ['src', 'container', 'skills', 'test'].flatMap((folder) =>
    readdirSync(join(HOME, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
      .map((path) => `${folder}/${path}`),
  );
}

/** Returns a file and all that it imports by a relative path, as far as that is in this tree. */
function withHelpers(path: string, seen: Set<string> = new Set()): ReadonlySet<string> {
  if (seen.has(path) || !existsSync(join(HOME, path))) return seen;
  seen.add(path);
  for (const [, target = ''] of read(path).matchAll(/from '(\.[^']+\.ts)'/g)) {
    withHelpers(join(dirname(path), target), seen);
  }
  return seen;
}

function read(path: string): string {
  return readFileSync(join(HOME, path), 'utf8');
}
