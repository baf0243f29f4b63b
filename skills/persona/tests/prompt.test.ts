import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { section } from '../../../container/agent/prompt/persona.ts';
import { discoverPromptSections } from '../../../src/host/contracts/prompt-section.ts';
import { openSystemPrompt } from '../../../src/host/turns/agent/system-prompt.ts';
import { sectionTurn } from '../../../src/testing/turn/agent-section-turn.ts';
import { promptTurn, promptWays } from '../../../src/testing/turn/prompt-turn.ts';

const STARTERS = resolve(import.meta.dirname, '../../../container/shared/persona');
const NAMES = ['SOUL', 'IDENTITY', 'USER', 'AGENTS', 'ENVIRONMENT', 'TOOLS'];
const facts = { isTask: false, today: '2026-11-22' };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-persona-'));
  cpSync(STARTERS, join(dir, 'shared/persona'), { recursive: true });
  for (const folder of ['group', 'global']) mkdirSync(join(dir, folder));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const at = (path: string) => join(dir, path);
function put(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}
const starter = (name: string) => readFileSync(join(STARTERS, `${name}.md`), 'utf8');

async function shown(over: object = {}): Promise<string | null> {
  const places = { group: at('group'), global: at('global'), shared: at('shared') };
  return await section.create()(sectionTurn(places, { facts, ...over }));
}

test('the files stand in the ruled order with a rule between them, whatever order they were written in', async () => {
  for (const name of NAMES.toReversed()) put(`group/${name}.md`, `I am ${name}.\n`);
  const text = (await shown()) ?? '';
  const parts = text.split('\n\n---\n\n');
  expect(parts[0]).toMatch(/^# Who you are\n\nWritten by the owner or by you/);
  expect(parts.map((part) => /I am (\w+)\.$/.exec(part)?.[1])).toEqual(NAMES);
  expect(parts[1]).toBe(`[${at('group/IDENTITY.md')}]\n\nI am IDENTITY.`);
});

test('a file of the group stands in place of that of all groups, and an empty one does not', async () => {
  put('global/SOUL.md', 'Shared soul.');
  put('global/USER.md', 'Shared user.');
  put('group/SOUL.md', 'Own soul.');
  put('group/USER.md', '# The owner\n\n- **Name:**\n<!-- nothing\nyet -->\n');
  const text = await shown();
  expect(text).toContain('Own soul.');
  expect(text).not.toContain('Shared soul.');
  expect(text).toContain('Shared user.');
});

test('a long line of spaces is read at once, and marks without words are none', async () => {
  put('group/USER.md', `- **Name:**\n- **\n${' '.repeat(18_000)}-${' '.repeat(2_000)}\n`);
  expect(await shown()).toBeNull();
  put('group/USER.md', `- ${' '.repeat(20_000)}!\n`);
  expect(await shown()).toContain('!');
});

test('without files there is no section; starters without words of anybody’s are none', async () => {
  expect(await shown()).toBeNull();
  for (const name of ['IDENTITY', 'USER', 'ENVIRONMENT', 'TOOLS'])
    put(`group/${name}.md`, starter(name));
  expect(await shown()).toBeNull();
  put('group/SOUL.md', starter('SOUL'));
  expect(await shown()).toContain('Be of use.');
});

test('a loop of its own gets AGENTS and ENVIRONMENT', async () => {
  for (const name of [...NAMES, 'BOOTSTRAP']) put(`group/${name}.md`, `I am ${name}.`);
  const text = (await shown({ isLoop: true })) ?? '';
  expect([...text.matchAll(/I am (\w+)\./g)].map(([, name]) => name)).toEqual([
    'AGENTS',
    'ENVIRONMENT',
  ]);
});

test('a file without end is cut and says so; a link to one of the machine’s is read as the container sees it', async () => {
  put('group/SOUL.md', 'line\n'.repeat(100_000));
  const text = (await shown()) ?? '';
  expect(text.length).toBeLessThan(22_000);
  expect(text).toContain('[cut: 500000 bytes in all; read on with read_file from line ');
  symlinkSync('/no/such/file', at('group/AGENTS.md'));
  mkdirSync(at('group/TOOLS.md'));
  expect(await shown()).not.toContain('TOOLS');
});

test('the host says channel, models and tasks, and what the section cannot know', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const context = { assistantName: 'Andy', dataDir: '/nowhere', timeZone: 'Asia/Tokyo', log };
  const { systemPrompt } = openSystemPrompt(await discoverPromptSections(), {}, context);
  const given = new Map<string, unknown>();
  const now = Date.UTC(2026, 10, 21, 20);
  const turn = promptTurn({ channel: 'telegram', models: ['a/one', 'b/two'], now });
  const prompt = await systemPrompt(turn, {
    ...promptWays,
    onFacts: (name, value) => void given.set(name, value),
  });
  expect(prompt).toContain(
    'You speak on the channel telegram. Your model: a/one (b/two where it gives no answer).',
  );
  expect(prompt).toContain('Now: Sunday, 22 November 2026 at 05:00 (Asia/Tokyo).');
  expect(given.get('persona')).toEqual(facts);
  expect(await systemPrompt(promptTurn({ isTask: true }), promptWays)).toContain(
    'is a scheduled task',
  );
});
