import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundledSkills, manifestOf } from '../src/testing/claw/bundled-skills.ts';

const SKILLS = join(import.meta.dirname, '../skills');

/** Lists the test files that the proof of each skill runs. */
function provingTests(): readonly string[] {
  return bundledSkills().flatMap((name) => manifestOf(name).test.map((path) => join(name, path)));
}

test('no test that an owner’s proof runs measures time or growth', () => {
  const tests = provingTests();
  expect(tests.length).toBeGreaterThan(100);
  // What measures is in test/skills/growth.long.test.ts. Whatever a test imports of it is refused by Biome.
  const measuring = /testing\/growth|process\.cpuUsage|process\.hrtime|performance\.now/;
  const found = tests.filter((path) => measuring.test(readFileSync(join(SKILLS, path), 'utf8')));
  expect(found).toEqual([]);
});

test('each skill has a changelog, which npm run release continues', () => {
  for (const name of bundledSkills()) {
    const text = readFileSync(join(SKILLS, name, 'CHANGELOG.md'), 'utf8');
    expect(text, name).toMatch(new RegExp(`^# Changelog of ${name}\\n\\n## \\[`));
  }
});
