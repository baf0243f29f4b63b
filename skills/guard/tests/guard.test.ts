import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { examination } from '../../../src/doctor/guard.ts';
import {
  addEntry,
  auditPath,
  auditPaths,
  lastEntries,
} from '../../../src/guards/guard/audit-log.ts';
import { maskText } from '../../../src/guards/guard/mask.ts';
import { guard } from '../../../src/guards/guard.ts';
import { openGuards } from '../../../src/host/turns/tool-calls/guarded-calls.ts';
import type { OwnToolVerdict } from '../../../src/sandbox/sandbox.ts';
import { type AgentScript, answers, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { commands, FAMILY, isIdle, startWithFamily } from '../../../src/testing/turn/tasks.ts';

const LOG = { info() {}, warn() {}, error() {} };
const KEY = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz';

function open(dataDir: string, environment: Readonly<Record<string, string>> = {}) {
  const groupsDir = join(dataDir, '../groups');
  const context = { dataDir, groupsDir, timeZone: 'UTC', log: LOG, newId: () => 'id' };
  const now = () => Date.UTC(2026, 10, 22, 9, 30);
  return openGuards([guard], environment, { ...context, now });
}

type Input = Readonly<Record<string, unknown>>;

/** Calls as the guard sees them, with an owner who answers at once. */
function caller(environment: Readonly<Record<string, string>> = {}, isAllowed = true) {
  const project = new TestProject();
  const dataDir = join(project.dir, 'data');
  const { guards } = open(dataDir, environment);
  const asked: string[] = [];
  const callOf = (name: string, input: Input, folder = 'family', runsIn = 'container') => ({
    tool: { name, isMainOnly: false },
    group: { name: 'Family', folder, isMain: folder === 'main' },
    isTask: false,
    turn: 't1',
    outside: null,
    elsewhere: null,
    runsIn: runsIn as 'host' | 'container',
    input,
  });
  const refusalOf = (...call: Parameters<typeof callOf>) =>
    guards.refusalOf(callOf(...call), async (_call, reason) => {
      asked.push(reason);
      return isAllowed ? null : 'The owner did not allow this call.';
    });
  const lines = () =>
    auditPaths(dataDir)
      .map((path) => readFileSync(path, 'utf8'))
      .join('')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return {
    dataDir,
    guards,
    asked,
    callOf,
    refusalOf,
    lines,
    [Symbol.dispose]: () => project[Symbol.dispose](),
  };
}

test('commands of the agent’s own shell are blocked, asked about, or run, and each is noted once', async () => {
  using project = new TestProject();
  const dataDir = join(project.dir, 'data');
  const { guards } = open(dataDir);
  expect(guards.ownTools).toBe('all');
  const verdicts: (OwnToolVerdict | undefined)[] = [];
  const agent: AgentScript = async ({ folder }, { onOwnTool }) => {
    if (folder !== 'family') return answers('of course');
    for (const command of ['ls -la', 'rm -rf /', 'terraform apply', 'terraform destroy']) {
      verdicts.push(await onOwnTool?.({ folder, name: 'shell', input: { command } }));
    }
    return answers('done');
  };
  const assistant = await startWithFamily(project, agent, undefined, { guards });
  const { terminal, chat } = assistant;
  const isAsked = (count: number) =>
    vi.waitFor(() => {
      const questions = textsOf(terminal).filter((text) => text.includes('wants to call `shell`'));
      expect(questions).toHaveLength(count);
      return questions.at(-1) ?? '';
    });
  await chat.say('@Andy go', { jid: FAMILY, isDirect: false });
  const question = await isAsked(1);
  expect(question).toContain('The agent of Family wants to call `shell`.');
  expect(question).toContain('`terraform` is not a program that is known here');
  expect(question).toContain('terraform apply');
  await terminal.say('yes');
  await isAsked(2);
  await terminal.say('no');
  await isIdle(assistant);
  expect(verdicts).toMatchObject([
    { kind: 'allowed' },
    {
      kind: 'refused',
      reason: expect.stringMatching(/^Blocked \(rm -rf\): .* asks the owner first\.$/),
    },
    { kind: 'allowed' },
    { kind: 'refused', reason: 'The owner did not allow this call.' },
  ]);
  const entries = lastEntries(dataDir, () => true, 10).toReversed();
  expect(entries).toMatchObject([
    { tool: 'shell', chat: 'family', decision: 'run', asked: false, confidence: 1, reason: null },
    { decision: 'refused', asked: false, confidence: null, input: { command: 'rm -rf /' } },
    { decision: 'run', asked: true, confidence: 0.8, input: { command: 'terraform apply' } },
    { decision: 'refused', asked: true, reason: 'The owner did not allow this call.' },
  ]);
  await assistant.stop();
});

test('the owner reads the log in the chat, by chat, tool and decision', async () => {
  using project = new TestProject();
  const dataDir = join(project.dir, 'data');
  const { guards } = open(dataDir);
  const assistant = await startWithFamily(project, undefined, undefined, { guards });
  expect(await commands(assistant, '/audit')).toContain('No call of a tool was noted yet.');
  const entry = { time: '2026-11-21T12:00:00.000Z', runsIn: 'host', isTask: false } as const;
  const ran = { ...entry, decision: 'run', confidence: 1, reason: null } as const;
  addEntry(dataDir, {
    ...ran,
    chat: 'family',
    tool: 'shell',
    asked: true,
    input: { command: 'ls `x`' },
  });
  addEntry(dataDir, { ...ran, chat: 'main', tool: 'web_fetch', asked: false, input: { url: 'a' } });
  addEntry(dataDir, {
    ...entry,
    chat: 'main',
    tool: 'shell',
    decision: 'refused',
    asked: false,
    confidence: 0.3,
    reason: 'Blocked: not whole.',
    input: { command: 'x'.repeat(500) },
  });
  const all = await commands(assistant, '/audit');
  expect(all.split('\n')).toHaveLength(4);
  expect(all).toMatch(
    /main `shell` `\{"command":"x{50,}…` refused: Blocked: not whole\. \(confidence 0\.3\)/,
  );
  expect(all).toMatch(
    /family `shell` `\{"command":"ls 'x'"\}` ran, you allowed it \(confidence 1\)/,
  );
  expect((await commands(assistant, '/audit 1')).split('\n')).toHaveLength(2);
  expect(await commands(assistant, '/audit refused')).not.toContain('web_fetch');
  expect(await commands(assistant, '/audit family shell')).not.toContain('main');
  expect(await commands(assistant, '/audit nothing')).toContain(
    'No call that fits nothing was noted yet.',
  );
  await assistant.stop();
});

test('what the owner denies a chat is refused there, what they want to be asked about is asked', async () => {
  using family = caller({
    GUARD_DENY: 'family:web_*, club:*',
    GUARD_ASK: 'send_message kids:shell',
  });
  expect(await family.refusalOf('web_fetch', { url: 'x' }, 'family', 'host')).toBe(
    'The owner does not let this chat use web_fetch.',
  );
  expect(await family.refusalOf('web_fetch', { url: 'x' }, 'main', 'host')).toBeNull();
  expect(await family.refusalOf('read_file', { path: 'x' }, 'club')).toContain('does not let');
  expect(family.asked).toEqual([]);
  expect(await family.refusalOf('send_message', { text: 'x' }, 'main', 'host')).toBeNull();
  expect(await family.refusalOf('shell', { command: 'ls' }, 'kids')).toBeNull();
  expect(family.asked).toEqual(Array(2).fill('You want to be asked about that.'));
  expect(
    family
      .lines()
      .map(({ decision }) => decision)
      .sort(),
  ).toEqual(['refused', 'refused', 'run', 'run', 'run']);
});

test('a rule that cannot be read lets no call through, and the setting is named', async () => {
  using project = new TestProject();
  const { guards, silent } = open(project.dir, { GUARD_DENY: 'kids:she!!' });
  expect(silent).toMatchObject([{ name: 'guard', wrong: [{ name: 'GUARD_DENY' }] }]);
  const group = { name: 'Main', folder: 'main', isMain: true };
  const call = {
    tool: { name: 'shell', isMainOnly: false },
    group,
    isTask: false,
    turn: 't1',
    outside: null,
    elsewhere: null,
    runsIn: 'container' as const,
    input: {},
  };
  expect(await guards.refusalOf(call, async () => null)).toContain(
    'the settings of the guard guard are wrong',
  );
});

test('tools of other skills that run something are looked at too, and no others', async () => {
  using chat = caller({ GUARD_PROGRAMS: 'hugo, terraform' });
  expect(
    await chat.refusalOf('box__run_command', { command: 'rm -rf /' }, 'main', 'host'),
  ).toContain('Blocked');
  expect(
    await chat.refusalOf(
      'python_run',
      { code: 'import os; os.system("rm -rf /")' },
      'main',
      'host',
    ),
  ).toContain('Blocked');
  expect(
    await chat.refusalOf('execute', { language: 'bash', code: 'reboot' }, 'main', 'host'),
  ).toContain('Blocked');
  expect(await chat.refusalOf('owner_command', { command: '/skills' }, 'main', 'host')).toBeNull();
  expect(await chat.refusalOf('write_file', { path: 'x.md', content: 'rm -rf /' })).toBeNull();
  expect(await chat.refusalOf('shell', { command: 'hugo new post' })).toBeNull();
  expect(await chat.refusalOf('shell', {})).toBeNull();
  expect(chat.asked).toEqual([]);
});

test('secrets stay out of the log, and long inputs are cut', async () => {
  using chat = caller();
  await chat.refusalOf('shell', {
    command: `curl -H "Authorization: Bearer abcdefghijkl" https://ada:pw1@x.example`,
  });
  await chat.refusalOf('shell', {
    command: `export API_KEY=hunter22 PASSWORD='two words'; echo ${KEY}`,
  });
  await chat.refusalOf('shell', { command: 'mysql --password=hunter22 -u a' });
  await chat.refusalOf(
    'send',
    { token: 'hunter22', nested: [{ apiKey: 'hunter22' }], text: 'hello' },
    'main',
    'host',
  );
  await chat.refusalOf('write_file', {
    path: 'k',
    content: '-----BEGIN PRIVATE KEY-----\nhunter22\n-----END PRIVATE KEY-----',
  });
  await chat.refusalOf('write_file', { path: 'long', content: 'word '.repeat(50_000) });
  const text = auditPaths(chat.dataDir)
    .map((path) => readFileSync(path, 'utf8'))
    .join('');
  expect(text).not.toMatch(/hunter22|abcdefghijkl|pw1|two words/);
  expect(text).toContain('"text":"hello"');
  expect(text).toContain('(250000 characters)');
  expect(text.length).toBeLessThan(8_000);
});

test('passwords by short options and in headers stay out of the log, and what else these options say is in it', () => {
  for (const command of [
    'mysql -u a -phunter22 shop',
    'mysqldump -h db -p "hunter22 too" shop',
    'sshpass -p hunter22 ssh ada@x.example',
    'docker login -u ada -p hunter22 x.example',
    'curl -su ada:hunter22 https://x.example',
    'curl -u ada:hunter22 https://x.example',
    'curl --user=ada:hunter22 https://x.example',
    `curl -H 'Cookie: sid=hunter22; b=hunter22' https://x.example`,
    'curl -H "X-Auth-Token: hunter22" https://x.example',
    'redis-cli -h db -a hunter22 ping',
    'ldapsearch -D cn=ada -w hunter22 -b dc=x',
    'unzip -P hunter22 a.zip',
    'restic backup --new-password hunter22',
  ])
    expect(maskText(command), command).not.toContain('hunter22');
  for (const command of [
    'mkdir -p old/2026 && cp -p a.txt old/2026',
    'docker run -p 8080:80 nginx',
    'ssh -p 2222 ada@x.example',
    'ps -p 42; mysql shop | tee -a log',
    'sort -u names:all | zip -r out.zip .',
    'git log -p src/main.ts',
    'curl -H "Accept: text/html" https://x.example',
  ])
    expect(maskText(command)).toBe(command);
});

test('the log is the owner’s alone, and its files are followed by new ones, of which the oldest goes', () => {
  using project = new TestProject();
  const entry = {
    time: '2026-11-22T09:30:00.000Z',
    chat: 'main',
    tool: 'shell',
    runsIn: 'container',
    isTask: false,
    turn: 't1',
    outside: null,
    elsewhere: null,
    decision: 'run',
    asked: false,
    confidence: 1,
    reason: null,
    input: {},
  } as const;
  for (let count = 0; count < 60; count += 1) {
    addEntry(project.dir, { ...entry, tool: `tool${count}` }, 1_000);
  }
  expect(statSync(auditPath(project.dir, 'main', 1)).mode & 0o777).toBe(0o600);
  expect(statSync(join(project.dir, 'of-chats/main/guard')).mode & 0o777).toBe(0o700);
  const tools = lastEntries(project.dir, () => true, 100).map(({ tool }) => tool);
  expect(tools.slice(0, 3)).toEqual(['tool59', 'tool58', 'tool57']);
  expect(tools.length).toBeGreaterThan(20);
  expect(tools.length).toBeLessThan(60);
  writeFileSync(auditPath(project.dir, 'main'), '{"time": "cut off by a cra', { flag: 'a' });
  expect(lastEntries(project.dir, () => true, 1)).toMatchObject([{ tool: 'tool59' }]);
  addEntry(project.dir, { ...entry, tool: 'after the crash' });
  expect(lastEntries(project.dir, () => true, 1)).toMatchObject([{ tool: 'after the crash' }]);
});

test('a pipe in the place of the log holds nothing up, and lets no call through', async () => {
  using chat = caller();
  const path = auditPath(chat.dataDir, 'family');
  mkdirSync(join(path, '..'), { recursive: true });
  execFileSync('mkfifo', [path]);
  expect(await chat.refusalOf('shell', { command: 'ls' })).toContain('could not look at this call');
});

test('a key that a command continues on the next line stays out of the log', async () => {
  using chat = caller();
  const command = `curl -H "Authorization: Bearer ${KEY.slice(0, 20)}\\\n${KEY.slice(20)}" https://x.example`;
  await chat.refusalOf('shell', { command });
  const text = readFileSync(auditPath(chat.dataDir, 'family'), 'utf8');
  expect(text).not.toContain(KEY.slice(20));
  expect(text).toContain('https://x.example');
});

test('results lose signs for a terminal, those of the host their keys, and files of an agent nothing', async () => {
  using chat = caller();
  const { guards, callOf } = chat;
  const resultOf = async (name: string, runsIn: string, value: unknown) =>
    (await guards.resultOf(callOf(name, {}, 'main', runsIn), { ok: true, value })).value;
  const coloured = '\u001b[31mred\u001b[0m \u001b]0;title\u0007x\u0000\b\tend\r\n';
  expect(await resultOf('shell', 'container', coloured)).toBe('red x\tend\r\n');
  expect(await resultOf('read_file', 'container', `${coloured}${KEY}`)).toBe(`${coloured}${KEY}`);
  expect(await resultOf('shell', 'container', KEY)).toBe(KEY);
  expect(await resultOf('look', 'host', { a: [`x ${KEY} y`], n: 1, none: null })).toEqual({
    a: ['x *** y'],
    n: 1,
    none: null,
  });
});

test('a result that is made for it takes no longer to clean than its length', async () => {
  using chat = caller();
  for (const text of [
    'a-',
    'a.',
    'sk-',
    'eyJ-',
    '\u001b]',
    'password',
    `password${' '.repeat(4_000)}"`,
    'token=',
    '://a:',
    '-----BEGIN PRIVATE KEY',
    'mysql ',
    'docker login ',
    'curl -u a:',
    'curl ',
    '-H key:',
    ' --a-',
  ]) {
    const value = text.repeat(65_536 / text.length);
    await chat.guards.resultOf(chat.callOf('look', {}, 'main', 'host'), { ok: true, value });
  }
});

test('the doctor tells what was decided, and that others can read the log', async () => {
  using chat = caller({}, false);
  const subject = {
    projectDir: '/',
    homeDir: '/',
    environment: {},
    settings: null,
    isOffline: true,
  };
  const doctor = () => examination.examine({ ...subject, dataDir: chat.dataDir, now: () => 0 });
  expect(await doctor()).toMatchObject([{ ok: true, message: 'has looked at no call yet' }]);
  await chat.refusalOf('shell', { command: 'ls' });
  await chat.refusalOf('shell', { command: 'rm -rf /' });
  await chat.refusalOf('shell', { command: 'rm -r x' });
  expect(await doctor()).toMatchObject([
    { ok: true, message: 'of the last 3 calls of tools, 2 were refused and 1 asked about' },
  ]);
});

test('a log that cannot be written lets no call through', async () => {
  using project = new TestProject({ 'data/of-chats': 'a file where the folder should be' });
  const { guards } = open(join(project.dir, 'data'));
  const group = { name: 'Main', folder: 'main', isMain: true };
  const tool = { name: 'shell', isMainOnly: false };
  const call = {
    tool,
    group,
    isTask: false,
    turn: 't1',
    outside: null,
    elsewhere: null,
    runsIn: 'container' as const,
    input: { command: 'ls' },
  };
  expect(await guards.refusalOf(call, async () => null)).toContain('could not look at this call');
});

test('the owner is asked before a file of the chat is written over, and no file elsewhere is looked at', async () => {
  using call = caller();
  const folder = join(call.dataDir, '../groups/family');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'notes.md'), 'a year of work');
  writeFileSync(join(folder, 'empty.md'), '');
  symlinkSync('/etc', join(folder, 'away'));
  const askedAbout = async (command: string) => {
    call.asked.length = 0;
    expect(await call.refusalOf('shell', { command })).toBeNull();
    return call.asked.length;
  };
  expect(await askedAbout('ls > notes.md')).toBe(1);
  expect(await askedAbout('mv new.md notes.md')).toBe(1);
  expect(await askedAbout('ls > empty.md; ls > new.md; ls >> notes.md')).toBe(0);
  // Whether /etc has such a file is not told to the agent: each is asked about.
  expect(await askedAbout('ls > away/passwd')).toBe(1);
  expect(await askedAbout('ls > away/nothing-of-the-kind')).toBe(1);
  expect(await askedAbout('ls > /workspace/extra/photos/list.txt')).toBe(1);
});
