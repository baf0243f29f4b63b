import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('every fault on the page names a test that is there, and every such test is on the page', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/faults.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\|(?! fault |---)/.test(line));
  const named = rows.map((row) => /`([^`]+)` \|$/.exec(row)?.[1] ?? `no test in ${row}`);
  const files = readdirSync(import.meta.dirname).filter((name) =>
    /^faults.*\.test\.ts$/.test(name),
  );
  const sources = files.filter((name) => join(import.meta.dirname, name) !== import.meta.filename);
  const titles = sources.flatMap((name) => {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    return [...text.matchAll(/^test\('(.+)', async/gm)].map(([, title]) => title);
  });
  expect(named.length).toBeGreaterThan(20);
  expect([...named].sort()).toEqual([...titles].sort());
});
