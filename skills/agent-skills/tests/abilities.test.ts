import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { examination } from '../../../src/doctor/agent-skills.ts';
import { section } from '../../../src/prompt/agent-skills.ts';
import { type TestAssistant, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { promptTurn, promptWays } from '../../../src/testing/turn/prompt-turn.ts';

const LIMIT = { timeout: 60_000 };
let project: TestProject;
let assistant: TestAssistant;
beforeEach(async () => {
  project = new TestProject();
  assistant = await project.start();
});
afterEach(async () => {
  await assistant.stop();
  project[Symbol.dispose]();
});

const REPORT = 'data/sessions/main/.claude/agent-skills.json';

function put(path: string, text: string): void {
  mkdirSync(dirname(join(project.dir, path)), { recursive: true });
  writeFileSync(join(project.dir, path), text);
}

async function said(text: string): Promise<string> {
  const before = assistant.terminal.sent.length;
  await assistant.terminal.say(text);
  await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(before), LIMIT);
  return textsOf(assistant.terminal).at(-1) ?? '';
}

const common = { folder: '/workspace/x', missing: [], shadows: [] };
const report = {
  count: 3,
  skills: [
    {
      ...common,
      name: 'tea',
      source: 'this chat',
      shadows: ['bundled'],
      description: 'Makes tea. Use when it is cold.',
      license: 'MIT',
      allowedTools: 'Read',
      note: 'it has no front matter',
    },
    { ...common, name: 'forms', source: 'bundled', missing: ['program pdftk'], description: 'D.' },
    { ...common, name: 'evil', source: 'this chat', leftOut: 'refs is a link\nto /etc' },
  ],
};

test('/abilities lists what is usable, what is missing, and what is left out', async () => {
  expect(await said('/abilities')).toContain('Say anything to me, then `/abilities` again.');
  put(REPORT, JSON.stringify(report));
  expect(await said('/abilities')).toBe(
    `Abilities of Terminal, as of its last turn:

- tea (this chat, in place of: bundled): Makes tea.

Something is missing for these:

- forms: program pdftk

Left out:

- evil (this chat): refs is a link to /etc

Ask me for one in your own words; \`/abilities <name>\` tells more of it. \`/skills\` lists what changes my code.`,
  );
  put(REPORT, JSON.stringify({ count: 0, skills: [] }));
  expect(await said('/abilities')).toBe('Terminal has no agent skills.');
});

test('/abilities with a name tells where it comes from and what it asks for', async () => {
  put(REPORT, JSON.stringify(report));
  expect(await said('/abilities Tea')).toBe(
    `**tea**

Makes tea. Use when it is cold.

- from: this chat
- folder, in the container: /workspace/x
- in place of: bundled
- read: when it is needed
- tools that it names: Read
- licence: MIT
- note: it has no front matter`,
  );
  expect(await said('/abilities form')).toContain('Is it `/abilities forms`?');
});

test('/abilities tells what a text asks for, whatever it declares', async () => {
  const todo = {
    ...common,
    name: 'todo',
    source: 'this chat',
    description: 'Keeps a list.',
    beyond: ['the network (api.todo.test)', 'secrets (TODO_TOKEN)'],
    asks: {
      programs: ['curl'],
      hosts: ['api.todo.test'],
      secrets: ['TODO_TOKEN'],
      sends: ['mail'],
    },
  };
  put(REPORT, JSON.stringify({ count: 1, skills: [todo] }));
  expect(await said('/abilities')).toContain(
    `The text of these asks for more than the container has, although they do not declare it:

- todo (this chat): the network (api.todo.test), secrets (TODO_TOKEN)`,
  );
  expect(await said('/abilities todo')).toContain(`- its text runs: curl
- its text names the hosts: api.todo.test
- its text names the secrets: TODO_TOKEN
- its text sends: mail
- of that is not in the container: the network (api.todo.test), secrets (TODO_TOKEN)`);
});

test('a report that is a link, broken, or of another shape is none', async () => {
  put('secret.json', JSON.stringify(report));
  mkdirSync(join(project.dir, dirname(REPORT)), { recursive: true });
  symlinkSync(join(project.dir, 'secret.json'), join(project.dir, REPORT));
  expect(await said('/abilities')).toContain('none has begun here');
  rmSync(join(project.dir, REPORT));
  for (const text of ['{', '[]', '{"count":1,"skills":[{"name":7}]}']) {
    put(REPORT, text);
    expect(await said('/abilities')).toContain('none has begun here');
  }
});

test('doctor names what is left out, and what something is missing for', async () => {
  const subject = {
    projectDir: project.dir,
    dataDir: join(project.dir, 'data'),
    homeDir: project.dir,
    environment: {},
    settings: null,
    isOffline: true,
    now: Date.now,
  };
  const [nothing] = await examination.examine(subject);
  expect(nothing).toMatchObject({ ok: true, message: expect.stringContaining('no chat has') });
  put(REPORT, JSON.stringify(report));
  expect(await examination.examine(subject)).toEqual([
    {
      area: 'abilities',
      ok: true,
      message: 'main: 1 usable, 1 with something missing',
      advice: 'Missing: forms (program pdftk).',
    },
    {
      area: 'abilities',
      ok: false,
      message: 'main: evil is left out: refs is a link to /etc',
      advice: 'Mend or remove /workspace/x.',
    },
  ]);
});

test('the settings say which shared folders hold skills, and which skills are off', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const context = { assistantName: 'Andy', dataDir: '/nowhere', timeZone: 'UTC', log };
  const facts = async (environment: Readonly<Record<string, string>>) => {
    const opened = section.open(environment, context);
    return opened.kind === 'made' ? await opened.value?.(promptTurn(), promptWays) : opened;
  };
  expect(await facts({})).toEqual({ forAgent: { extra: ['skills'], off: [] } });
  const set = { AGENT_SKILLS_EXTRA: 'team, mine', AGENT_SKILLS_OFF: 'github' };
  expect(await facts(set)).toEqual({ forAgent: { extra: ['team', 'mine'], off: ['github'] } });
  expect(await facts({ AGENT_SKILLS_EXTRA: '../main' })).toMatchObject({ kind: 'wrong-settings' });
});
