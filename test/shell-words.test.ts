import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const HOME = join(import.meta.dirname, '..');
const TEXTS = [
  'src/**/*.ts',
  'skills/*/add/**/*.ts',
  'skills/*/SKILL.md',
  'skills/*/manifest.yaml',
];
const COMMENT = /^\s*(?:\*|\/\/|\/\*)/;
const BARE = /(?<!npx )\bclaw setup\b/;

test('what the assistant and its skills tell people to type in a shell can be typed as it is', () => {
  const bare = globSync(TEXTS, { cwd: HOME }).flatMap((path) =>
    readFileSync(join(HOME, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        !path.endsWith('.test.ts') && !COMMENT.test(line) && BARE.test(line)
          ? [`${path}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(bare).toEqual([]);
});
