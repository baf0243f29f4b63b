import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HOME = join(import.meta.dirname, '..');
const SOURCES = '{src,packages,container,scripts,bin,skills}/**/*.{ts,js}';
const MOST_LINES = 500;

/** It is replaced by one rename: two halves of two versions could not load each other. */
const WHOLE = ['packages/claw/src/transaction/recover.js'];

test('a source file has at most 500 lines', () => {
  const exclude = ['**/node_modules/**', '**/tests/**', '**/*.test.ts', 'packages/claw/lib/**'];
  const found = globSync(SOURCES, { cwd: HOME, exclude }).filter(
    (path) => readFileSync(join(HOME, path), 'utf8').split('\n').length > MOST_LINES + 1,
  );
  expect(found.toSorted()).toEqual(WHOLE);
});
