import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { manifestOf } from '../src/testing/claw/bundled-skills.ts';

const HOME = join(import.meta.dirname, '..');

test('the README’s first minute shows the versions and the counts of the skills that are here', () => {
  const readme = readFileSync(join(HOME, 'README.md'), 'utf8');
  const [, minute = ''] = /## Sixty seconds\n([\s\S]*?)\n## /.exec(readme) ?? [];
  const shown = [...minute.matchAll(/(telegram|slack)`? (\d+\.\d+\.\d+)/g)];
  expect(shown.map(([, skill]) => skill)).toEqual(expect.arrayContaining(['telegram', 'slack']));
  for (const [, skill = '', version] of shown) {
    expect(`${skill} ${version}`).toBe(`${skill} ${manifestOf(skill).version}`);
  }
  const { adds, modifies, structured } = manifestOf('telegram');
  // .env.example and package.json are planned; package-lock.json is npm's, after the plan.
  const changed = modifies.length + 2;
  const added = adds.length;
  const own = ['.env.example', 'package.json', ...modifies].sort().join(', ');
  expect(minute).toContain(`- files: ${changed} changed (${own}), ${added} new (`);
  expect(minute).toContain(`- files: ${changed} changed (${own}), ${added} deleted (`);
  expect(minute).toContain(`- packages: ${rangesOf(structured.npmDependencies)}\n`);
  expect(minute.match(/\d+ files/g)).toEqual(Array(3).fill(`${added + changed + 1} files`));
  for (const { name } of structured.envAdditions) expect(minute).toContain(name);
});

const rangesOf = (packages: Readonly<Record<string, string>>) =>
  Object.entries(packages)
    .map(([name, range]) => `${name}@${range}`)
    .join(', ');
