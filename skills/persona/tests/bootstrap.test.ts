import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endBootstrap } from '../../../container/agent/persona/bootstrap.ts';
import { section } from '../../../container/agent/prompt/persona.ts';
import { tool } from '../../../container/agent/tools/finish-bootstrap.ts';
import { sectionTurn } from '../../../src/testing/turn/agent-section-turn.ts';
import { agentToolContext } from '../../../src/testing/turn/agent-tool-context.ts';

const STARTERS = resolve(import.meta.dirname, '../../../container/shared/persona');
const TODAY = '2026-11-22';
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-bootstrap-'));
  cpSync(STARTERS, join(dir, 'shared/persona'), { recursive: true });
  for (const folder of ['group', 'global']) mkdirSync(join(dir, folder));
  for (const name of ['BOOTSTRAP', 'USER']) put(`group/${name}.md`, starter(name));
  put('global/IDENTITY.md', starter('IDENTITY'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const at = (path: string) => join(dir, path);
const put = (path: string, text: string) => writeFileSync(at(path), text);
const starter = (name: string) => readFileSync(join(STARTERS, `${name}.md`), 'utf8');
const places = () => ({ group: at('group'), global: at('global'), shared: at('shared') });

async function shown(isTask = false): Promise<string> {
  const facts = { isTask, today: TODAY };
  return (await section.create()(sectionTurn(places(), { facts }))) ?? '';
}

test('the introduction is shown turn after turn until both files are filled in, and then it is gone', async () => {
  for (const _turn of [1, 2]) expect(await shown()).toContain('What shall I call you');
  expect(await shown(true)).toBe('');
  put('group/USER.md', `${starter('USER')}\n- Ada, informally; Lisbon\n`);
  expect(await shown()).toContain('What shall I call you');
  put('global/IDENTITY.md', '- **Name:** Robin\n');
  const text = await shown();
  expect(text).not.toContain('What shall I call you');
  expect(text).toContain('Ada, informally');
  expect(text).toContain('Robin');
  expect(existsSync(at('group/BOOTSTRAP.md'))).toBe(false);
  expect(existsSync(at('group/.done'))).toBe(false);
});

test('a task never ends it, and a group that has none of its own is not asked', async () => {
  put('group/USER.md', 'Ada');
  put('global/IDENTITY.md', 'Robin');
  await shown(true);
  expect(existsSync(at('group/BOOTSTRAP.md'))).toBe(true);
  rmSync(at('group/BOOTSTRAP.md'));
  put('global/BOOTSTRAP.md', 'Ask everybody.');
  expect(await shown()).not.toContain('Ask everybody.');
});

test('words of the owner’s in it are kept, also those of another day’s', async () => {
  for (const text of ['Mine, first.', 'Mine, second.']) {
    put('group/BOOTSTRAP.md', text);
    await endBootstrap(places(), TODAY);
    expect(existsSync(at('group/BOOTSTRAP.md'))).toBe(false);
  }
  expect(readdirSync(at('group/.done')).sort()).toEqual([
    `BOOTSTRAP-${TODAY}-2.md`,
    `BOOTSTRAP-${TODAY}.md`,
  ]);
  expect(readFileSync(at(`group/.done/BOOTSTRAP-${TODAY}.md`), 'utf8')).toBe('Mine, first.');
  expect(readFileSync(at(`group/.done/BOOTSTRAP-${TODAY}-2.md`), 'utf8')).toBe('Mine, second.');
});

test('the agent ends it by its tool, once', async () => {
  const context = agentToolContext({ groupFolder: at('group') });
  put('group/BOOTSTRAP.md', 'Ask about the cat.');
  expect(await tool.run({}, context)).toContain(`its text is kept in ${at('group/.done/')}`);
  expect(await tool.run({}, context)).toBe('There is no BOOTSTRAP.md: nothing is to be done.');
});

test('a pipe or a folder in its place holds nothing up, and is left alone', async () => {
  const context = agentToolContext({ groupFolder: at('group') });
  const path = at('group/BOOTSTRAP.md');
  rmSync(path);
  execFileSync('mkfifo', [path]);
  expect(await shown()).not.toContain('What shall I call you');
  await expect(tool.run({}, context)).rejects.toThrow('is not a file');
  rmSync(path);
  mkdirSync(path);
  expect(await shown()).not.toContain('What shall I call you');
  await expect(tool.run({}, context)).rejects.toThrow('is not a file');
  expect(existsSync(path)).toBe(true);
});

test('a link in its place is no introduction, and is left alone', async () => {
  rmSync(at('group/BOOTSTRAP.md'));
  symlinkSync('/etc/passwd', at('group/BOOTSTRAP.md'));
  put('group/USER.md', 'Ada');
  put('global/IDENTITY.md', 'Robin');
  expect(await shown()).not.toContain('root:');
  expect(readFileSync('/etc/passwd', 'utf8')).not.toBe('');
});
