import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const SKILLS = join(import.meta.dirname, '../skills');
const Manifest = z.object({ test: z.array(z.string()).default([]) });

/** Lists the test files that the proof of each skill runs. */
function provingTests(): readonly string[] {
  return readdirSync(SKILLS, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [];
    const manifest = readFileSync(join(SKILLS, entry.name, 'manifest.yaml'), 'utf8');
    return Manifest.parse(parse(manifest)).test.map((path) => join(entry.name, path));
  });
}

test('no test that an owner’s proof runs measures time or growth', () => {
  const tests = provingTests();
  expect(tests.length).toBeGreaterThan(100);
  // What measures is in test/skills/growth.long.test.ts. Whatever a test imports of it is refused by Biome.
  const measuring = /testing\/growth|process\.cpuUsage|process\.hrtime|performance\.now/;
  const found = tests.filter((path) => measuring.test(readFileSync(join(SKILLS, path), 'utf8')));
  expect(found).toEqual([]);
});
