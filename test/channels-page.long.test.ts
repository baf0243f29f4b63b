import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentTablesOf, readResults, tableOf } from '../src/testing/channel/results.ts';
import { cloneRepository } from './story/clone.ts';

const HOME = join(import.meta.dirname, '..');
const PAGE = join(HOME, 'docs/channels.md');

/** The files that try a channel on the rules. */
const TESTS = globSync('{src/channels,skills/*/tests}/**/*.test.ts', { cwd: HOME }).filter((path) =>
  readFileSync(join(HOME, path), 'utf8').includes('testChannel('),
);

const CONTENT = `## What the agent sees of each kind of content

The tables show the exact lines that reach the agent, with \`ID\` for ids that the far end makes. Below each table are the
kinds of content that do not exist there. The tests of the channel send the real payload of each kind and compare.`;

test('docs/channels.md says which rules each channel keeps, as their tests have found', async () => {
  await using clone = cloneRepository();
  const skills = [...new Set(TESTS.flatMap((path) => /^skills\/([^/]+)/.exec(path)?.[1] ?? []))];
  const applied = await clone.claw('apply', ...skills.sort(), '--proof', 'skills');
  expect(applied.json.error).toBeNull();
  const results = mkdtempSync(join(tmpdir(), 'claw-channels-'));
  execFileSync('node_modules/.bin/vitest', ['run', '--no-isolate', ...TESTS], {
    cwd: clone.root,
    env: { ...process.env, CLAW_CHANNEL_RESULTS: results },
    stdio: 'ignore',
  });
  const all = readResults(results);
  const table = `${tableOf(all)}\n\n${CONTENT}\n\n${contentTablesOf(all)}`;
  rmSync(results, { recursive: true });
  const page = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const brought = page.replace(/^\| rule [\s\S]*/m, () => `${table}\n`);
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, brought);
  else expect(page, 'UPDATE_DOCS=1 npx vitest run test/channels-page.long.test.ts').toBe(brought);
  expect(brought).toContain(table);
});
