import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HOME = join(import.meta.dirname, '..');
const SOURCES = '{src,packages,container,scripts,bin,test,skills}/**/*.{ts,js}';

/** Types of TypeScript and of parsers and editors, which are no values of Node. */
const TYPES = ['Partial', 'Required', 'Readonly', 'Record', 'Pick', 'Omit', 'Exclude', 'Extract'];
const FIELD = ['Element', 'Node', 'Range'];

test('nothing is declared by the name of a built-in', () => {
  const values = Object.getOwnPropertyNames(globalThis).filter((name) =>
    /^[A-Z]\w*[a-z]/.test(name),
  );
  const names = [...values, ...TYPES, ...FIELD].join('|');
  const declared = new RegExp(`^(?:export )?(?:type|interface|class|const) (?:${names})\\b`, 'gm');
  const exclude = ['**/node_modules/**', 'packages/claw/lib/**'];
  const found = globSync(SOURCES, { cwd: HOME, exclude }).flatMap((path) => {
    const text = readFileSync(join(HOME, path), 'utf8');
    return [...text.matchAll(declared)].map(([line]) => `${path}: ${line}`);
  });
  expect(found).toEqual([]);
});
