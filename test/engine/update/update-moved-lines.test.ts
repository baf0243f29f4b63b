import { expect, test, vi } from 'vitest';
import {
  type Codebase,
  type Files,
  temporaryCodebase,
} from '../../../src/testing/claw/codebase.ts';
import { addRelease, versioned } from '../releases.ts';

vi.setConfig({ testTimeout: 120_000 });

const FUNCTION = `export function readSecrets(path) {
  const text = readFileSync(path, 'utf8');
  const pairs = text.split(SEPARATOR_OF_LINES);
  return Object.fromEntries(pairs);
}
`;
const HEAD = "import { readFileSync } from 'node:fs';\n\nconst SEPARATOR_OF_LINES = ';';\n\n";
const REST = '\nexport function start() {\n  return 1;\n}\n';
const MAIN = `${HEAD}${FUNCTION}${REST}`;

/** Updates a codebase whose owner changed a line of the function, and returns the reason of the one conflict. */
async function reasonAfter(files: Files): Promise<string> {
  const first = {
    'package.json': versioned('1.0.0'),
    'main.js': MAIN,
    'other.js': 'const a = 1;\n',
  };
  await using codebase: Codebase = temporaryCodebase(first, { git: true });
  addRelease(codebase, 'v2', { files: { 'package.json': versioned('2.0.0'), ...files } });
  await codebase.claw('init');
  codebase.write({ 'main.js': MAIN.replace("'utf8'", "'latin1'") });
  const { stdout } = await codebase.claw('update', 'v2');
  const [conflict, ...others] = JSON.parse(stdout).conflicts;
  expect(others).toEqual([]);
  expect(conflict.path).toBe('main.js');
  return conflict.reason;
}

test('a conflict says in which file of the release a function is now', async () => {
  const files = { 'main.js': `${HEAD}${REST}`, 'secrets.js': `${HEAD}${FUNCTION}` };
  expect(await reasonAfter(files)).toContain(
    'The release has readSecrets in secrets.js now, at line 5.',
  );
});

test('a file that had these lines before is not named, nor one that has few of them', async () => {
  const files = {
    'main.js': `${HEAD}${REST}`,
    'other.js': 'export function readSecrets(path) {\n',
  };
  expect(await reasonAfter(files)).not.toContain('The release has');
});
