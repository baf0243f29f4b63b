import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HOME = join(import.meta.dirname, '..');

/** Where people find commands to paste: pages, what the product prints, and what is written above a script. */
const PLACES = ['*.md', 'src/**', 'scripts/**', 'skills/**', 'packages/**', '.github/**'];

test('a command that reads TypeScript names the project’s own Node: the system’s may be too old for it', () => {
  const listed = execFileSync('git', ['ls-files', '-z', '--', ...PLACES], {
    cwd: HOME,
    encoding: 'utf8',
  });
  const paths = listed.split('\0').filter((path) => path !== '' && existsSync(join(HOME, path)));
  expect(paths.length).toBeGreaterThan(1000);
  const found = paths.flatMap((path) =>
    [
      ...readFileSync(join(HOME, path), 'utf8').matchAll(
        /(?<!npx )(?<![\w./-])node [\w./-]+\.ts\b/g,
      ),
    ].map(([command]) => `${path}: ${command}`),
  );
  expect(found).toEqual([]);
});
