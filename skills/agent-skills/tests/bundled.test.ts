import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parseSkillFile } from '../../../container/agent/agent-skills/front-matter.ts';
import { discoverTools } from '../../../src/host/contracts/tool.ts';

const HOME = resolve(import.meta.dirname, '../../..');
const BUNDLED = join(HOME, 'container/shared/agent-skills');
const NAMES = readdirSync(BUNDLED).sort();
const read = (name: string) =>
  parseSkillFile(readFileSync(join(BUNDLED, name, 'SKILL.md'), 'utf8'), 'no-folder');

/** Tools that other skills bring; a bundled one says what to do without them. */
const FROM_SKILLS = ['web_search', 'web_fetch', 'fetch_url'];

/** Names of the tools of this tree: the host's, and the agent's own. */
async function toolNames(): Promise<ReadonlySet<string>> {
  const host = (await discoverTools()).map(({ name }) => name);
  const folder = join(HOME, 'container/agent/tools');
  const own = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => /name: '([^']+)'/.exec(readFileSync(join(folder, file), 'utf8'))?.[1] ?? '');
  return new Set([...host, ...own, ...FROM_SKILLS]);
}

test('the fifteen of the seed are there, each under its own name', () => {
  expect(NAMES).toEqual([
    'cron',
    'daily-briefing',
    'decision-log',
    'follow-up-manager',
    'git',
    'github',
    'inbox-triage',
    'meeting-prep-and-recap',
    'memory',
    'personal-ops-router',
    'research',
    'skill-creator',
    'summarize',
    'task-extractor',
    'weekly-review',
  ]);
  for (const name of NAMES) expect(read(name)).toMatchObject({ name, note: null });
  expect(NAMES.filter((name) => read(name).always)).toEqual(['memory']);
});

test.each(NAMES)('%s says in a hundred tokens when to use it, and in a page how', (name) => {
  const { description, body } = read(name);
  expect(description.length).toBeLessThan(400);
  if (name !== 'memory') expect(description).toMatch(/Use (for|when|to)|Reminders|Chooses/);
  expect(body.split('\n').length).toBeLessThan(60);
  expect(body.length).toBeGreaterThan(900);
});

test('they name tools that this assistant has, and each other', async () => {
  const known = await toolNames();
  for (const name of NAMES) {
    const { body, requires } = read(name);
    const named = [...body.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, tool = '']) => tool);
    const PARAMETERS = ['if_missed', 'from_line', 'github__'];
    const unknown = named.filter((tool) => !known.has(tool) && !PARAMETERS.includes(tool));
    expect([name, unknown]).toEqual([name, []]);
    expect(requires.tools.filter((tool) => !known.has(tool))).toEqual([]);
  }
  const { body } = read('personal-ops-router');
  const cells = [...body.matchAll(/^ *\| [^|]+ \| ([^|]+) \|$/gm)].map(([, cell = '']) => cell);
  const routed = cells.slice(1).flatMap((cell) => cell.match(/[a-z]+(-[a-z]+)+|[a-z]{4,}/g) ?? []);
  const to = routed.filter((word) => !['then', 'what', 'stays'].includes(word));
  expect(to.filter((name) => !NAMES.includes(name) && !/^-+$/.test(name))).toEqual([]);
  expect(to.length).toBeGreaterThan(8);
});
