import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { journalText } from '../../packages/claw/src/transaction/recover.js';
import { stage } from '../../packages/claw/src/transaction/stage.ts';
import { skillFiles } from '../testing/claw/codebase.ts';
import {
  environmentOf,
  oneFileSkill,
  TestConversation,
  TestTree,
} from '../testing/claw/supervised-project.ts';
import { pipedConsole } from './console/piped-console.ts';
import { readEnvironment } from './environment.ts';
import { findExposed } from './private-data.ts';
import { rollBack } from './rollback/rollback.ts';
import { openSupervisor } from './supervisor.ts';

const BROKEN = oneFileSkill(
  'broken',
  'src/channels/broken.ts',
  "throw new Error('no luck with ' + process.env.SLACK_BOT_TOKEN);\n",
);
const HANGING = oneFileSkill(
  'hanging',
  'src/channels/hanging.ts',
  'await new Promise(() => {});\n',
);
const FINE = oneFileSkill('fine', 'src/channels/fine.txt', 'fine\n');

/** Returns the answers of a piped conversation, by the prompts between them. */
function answersOf({ stdout }: TestConversation): readonly string[] {
  return stdout.split(/^> \n?/m).map((text) => text.trim());
}

/** Returns the process of the assistant that was started last. */
function assistantPid(tree: TestTree): number {
  const log = readFileSync(tree.logFile('supervisor'), 'utf8');
  return Number([...log.matchAll(/"pid":(\d+),"isPublished"/g)].at(-1)?.[1]);
}

test('piped lines are answered one after the other, also across a restart, and the end is exit 0', async () => {
  using tree = new TestTree();
  await using conversation = TestConversation.start(tree);
  const exitCode = await conversation.end('/groups\n/restart\n\n/bogus\n/groups\n');
  expect(conversation.stderr).toBe('');
  expect(exitCode).toBe(0);
  const [greeting, ...answers] = answersOf(conversation);
  expect(greeting).toContain('I am Andy');
  expect(greeting).toContain('`npx claw setup`');
  expect(answers).toEqual([
    expect.stringContaining('Registered:'),
    'Andy is back.',
    expect.stringContaining('There is no command `/bogus`'),
    expect.stringContaining('Registered:'),
    '',
  ]);
});

/** An owner's command that asks while it works. */
const PAINT = `import { defineCommand } from '../host/contracts/command.ts';
export const command = defineCommand({
  scope: 'owner',
  name: 'paint',
  help: 'paints',
  async run({ ask }) {
    const choices = [{ word: 'red', label: 'red, as before' }, { word: 'blue', label: 'dark blue' }];
    const { word } = await ask({ text: 'Which colour?', choices });
    const { text } = await ask({ text: 'What for?', takesText: true });
    return { kind: 'answer', text: 'Painted ' + word + ' for ' + text + '.' };
  },
});
`;

test('a piped line answers a question of the work on the one before, and what follows waits for its end', async () => {
  using tree = new TestTree({ 'src/commands/paint.ts': PAINT });
  await using conversation = TestConversation.start(tree);
  const exitCode = await conversation.end('/paint\n7\nblue\na better view\n/paint\n1\ncancel\n');
  expect(conversation.stderr).toBe('');
  expect(exitCode).toBe(0);
  const order = [
    'Which colour?',
    'There is no choice 7. Say a number from 1 to 2.',
    'What for?',
    'Painted blue for a better view.',
    'Painted red for undefined.',
  ].map((text) => conversation.stdout.indexOf(text));
  expect(order).not.toContain(-1);
  expect(order).toEqual(order.toSorted((one, other) => one - other));
});

test('lines piped into a shell answer questions as well, which the shell that asked is shown', async () => {
  using tree = new TestTree({ 'src/commands/paint.ts': PAINT });
  const command = [process.execPath, 'bin/claw.js', 'chat'];
  await using conversation = new TestConversation(tree, command);
  const exitCode = await conversation.end('/paint\n7\nblue\na better view\n');
  expect(conversation.stdout).toContain('Which colour?');
  expect(conversation.stdout).toContain('What for?');
  expect(conversation.stdout).toContain('Painted blue for a better view.');
  expect(exitCode).toBe(0);
});

test('a skill is woven in and the new tree reports it, with what was piped in meanwhile', async () => {
  using tree = new TestTree(FINE);
  await using conversation = TestConversation.start(tree);
  expect(await conversation.end('/add-fine\nyes\n/remove-fine\n/groups\n')).toBe(0);
  const { stdout } = conversation;
  const order = ['fine 1.0.0 is in', 'fine is out', 'Registered:'].map((part) =>
    stdout.indexOf(part),
  );
  expect(order, stdout).not.toContain(-1);
  expect(order, stdout).toEqual(order.toSorted((one, other) => one - other));
  expect(stdout).not.toContain('git history');
  expect(existsSync(join(tree.dir, 'src/channels/fine.txt'))).toBe(false);
});

/** Leaves what a command leaves whose disk failed after its journal: it exits 0, and the next one goes on. */
function leaveUnpublished(tree: TestTree, path: string, id = '000001-apply'): void {
  const bytes = Buffer.from('published later\n');
  const step = { kind: 'write', path, bytes, isExecutable: false, before: null } as const;
  const names = { verb: 'apply', summary: 'apply fine', stateBefore: null, stateAfter: null };
  const journal = stage(tree.dir, id, { ...names, steps: [step] }, '2026-01-01');
  writeFileSync(join(tree.dir, '.claw/tx', id, 'journal.json'), journalText(tree.dir, journal));
}

test('what an interrupted command has left to publish is published before the assistant starts', async () => {
  using tree = new TestTree();
  // The journal below is sealed with the secret in this home.
  await using conversation = TestConversation.start(tree, { HOME: homedir() });
  await conversation.sees('I am Andy');
  leaveUnpublished(tree, 'src/channels/late.txt');
  conversation.write('/restart\n');
  await conversation.sees('Andy is back');
  expect(readFileSync(join(tree.dir, 'src/channels/late.txt'), 'utf8')).toBe('published later\n');
  expect(readdirSync(join(tree.dir, '.claw/tx')).filter((name) => name !== '.gitignore')).toEqual(
    [],
  );
  const log = readFileSync(tree.logFile('supervisor'), 'utf8');
  expect(log.indexOf('"outcome":"rolled-forward"')).toBeGreaterThan(0);
  expect(log.indexOf('"outcome":"rolled-forward"')).toBeLessThan(
    log.lastIndexOf('the assistant was started'),
  );
  // An edit of the owner's in that place is theirs to decide, and the assistant comes up all the same.
  leaveUnpublished(tree, 'src/channels/edited.txt', '000002-apply');
  writeFileSync(join(tree.dir, 'src/channels/edited.txt'), 'mine\n');
  expect(await conversation.end('/restart\n/groups\n')).toBe(0);
  expect(conversation.stderr).toContain('met edits of yours (src/channels/edited.txt)');
  expect(conversation.stdout).toContain('Registered:');
  expect(readFileSync(join(tree.dir, 'src/channels/edited.txt'), 'utf8')).toBe('mine\n');
});

test('a tree that does not come up is taken back, and the owner is told why', async () => {
  using tree = new TestTree(BROKEN);
  await using conversation = TestConversation.start(tree, { SLACK_BOT_TOKEN: 'xoxb-4f2b9c81' });
  expect(await conversation.end('/add-broken\nyes\n/groups\n')).toBe(0);
  expect(conversation.stdout).toContain('Adding broken was taken back');
  expect(conversation.stdout).toMatch(
    /Error: \S+broken\.ts cannot be loaded: no luck with \[secret\] \(line 1\)\./,
  );
  expect(conversation.stdout.match(/no luck/g)).toHaveLength(1);
  expect(conversation.stdout + conversation.stderr).not.toMatch(/^\s+at /m);
  expect(conversation.stdout + conversation.stderr).not.toContain('xoxb-4f2b9c81');
  expect(conversation.stdout).toContain('Registered:');
  expect(existsSync(join(tree.dir, 'src/channels/broken.ts'))).toBe(false);
});

test('a database that cannot be used takes no change back, and is told once', async () => {
  using tree = new TestTree(FINE);
  await using first = TestConversation.start(tree);
  expect(await first.end('/groups\n')).toBe(0);
  const applied = spawnSync(process.execPath, ['bin/claw.js', 'apply', 'fine', '--yes'], {
    cwd: tree.dir,
    env: environmentOf(tree),
    encoding: 'utf8',
  });
  expect(applied.status, applied.stderr).toBe(0);
  const path = join(tree.dataDir, 'claw.db');
  const whole = readFileSync(path);
  writeFileSync(path, Buffer.alloc(whole.length, 0x5a));
  // The second one finds what the first has noted.
  for (const start of [1, 2]) {
    await using conversation = TestConversation.start(tree);
    expect(await conversation.end('/groups\n')).toBe(1);
    const said = conversation.stdout + conversation.stderr;
    expect(said, `start ${start}`).not.toContain('taken back');
    expect(said.match(/is damaged/g)).toHaveLength(1);
    expect(said.match(/npx claw repair/g)).toHaveLength(1);
    expect(existsSync(join(tree.dir, 'src/channels/fine.txt'))).toBe(true);
  }
  writeFileSync(path, whole);
  await using again = TestConversation.start(tree);
  expect(await again.end('/groups\n')).toBe(0);
  expect(existsSync(join(tree.dir, 'src/channels/fine.txt'))).toBe(true);
});

test('a tree that broke claw as well is taken back without it', async () => {
  const before = readFileSync(join(import.meta.dirname, '../../bin/claw.js'), 'utf8');
  // As an update may bring it: no skill may touch bin/ in an installation.
  const parts = {
    core: '0.1.0',
    add: { 'src/channels/broken.ts': "throw new Error('no luck');\n" },
    modify: {
      'bin/claw.js': [before, before.replace('const NEEDED', 'claw is broken;\nconst NEEDED')],
    },
  } as const;
  const files = Object.entries(skillFiles('broken', parts)).map(
    ([path, content]) => [`skills/broken/${path}`, String(content)] as const,
  );
  using tree = new TestTree(Object.fromEntries(files));
  await using conversation = TestConversation.start(tree);
  expect(await conversation.end('/add-broken\nyes\n/groups\n')).toBe(0);
  expect(conversation.stdout).toContain('Adding broken was taken back');
  expect(conversation.stdout).toContain('no luck');
  expect(conversation.stdout).toContain('Registered:');
  expect(existsSync(join(tree.dir, 'src/channels/broken.ts'))).toBe(false);
  expect(readFileSync(join(tree.dir, 'bin/claw.js'), 'utf8')).toBe(before);
  expect(existsSync(join(tree.dir, '.claw/state.yaml'))).toBe(false);
});

test('without claw, a file that was edited since keeps the whole tree as it is', async () => {
  using tree = new TestTree(FINE);
  const claw = join(tree.dir, 'bin/claw.js');
  const options = { nodePath: process.execPath, clawPath: claw, projectDir: tree.dir };
  // One home for the command and for this process, which takes it back: the secret of its seal is there.
  const environment = { ...environmentOf(tree), HOME: homedir() };
  const applied = spawnSync(process.execPath, [claw, 'apply', 'fine', '--yes'], {
    cwd: tree.dir,
    env: environment,
    encoding: 'utf8',
  });
  expect(applied.status, applied.stderr).toBe(0);
  writeFileSync(claw, "throw new Error('claw is broken');\n");
  const fine = join(tree.dir, 'src/channels/fine.txt');
  writeFileSync(fine, 'mine\n');
  expect(await rollBack({ ...options, environment })).toEqual({
    ok: false,
    message: expect.stringMatching(
      /does not run \(Error: claw is broken\), and these were changed since: src\/channels\/fine\.txt\./,
    ),
  });
  expect(readFileSync(fine, 'utf8')).toBe('mine\n');
  // One that hangs, and one without its Node, are as broken.
  writeFileSync(claw, 'setInterval(() => {}, 1000);\n');
  expect(await rollBack({ ...options, environment, undoMs: 500 })).toMatchObject({
    message: expect.stringContaining('does not run (it said nothing for too long)'),
  });
  writeFileSync(fine, 'fine\n');
  // The last of an undo that was cut off is no change to be taken back.
  const backup = join(tree.dir, '.claw/backup');
  const record = join(
    backup,
    readdirSync(backup).find((name) => name !== '.gitignore') ?? '',
    'record.json',
  );
  const text = readFileSync(record, 'utf8');
  const undo = { ...JSON.parse(text.split('\n')[0] ?? ''), verb: 'undo' };
  writeFileSync(record, journalText(tree.dir, undo));
  expect(await rollBack({ ...options, environment, undoMs: 500 })).toEqual({ ok: true });
  expect(existsSync(fine)).toBe(true);
  writeFileSync(record, text);
  const nodePath = join(tree.dir, 'node_modules/gone/node');
  expect(await rollBack({ ...options, nodePath, environment })).toEqual({ ok: true });
  expect(existsSync(fine)).toBe(false);
});

test('a tree that comes up without ever being ready is taken back when its time is over', async () => {
  using tree = new TestTree(HANGING);
  const input = new PassThrough();
  const output = new PassThrough();
  let said = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const errors = new PassThrough().resume();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const supervisor = openSupervisor({
    projectDir: tree.dir,
    dataDir: tree.dataDir,
    nodePath: process.execPath,
    mainPath: join(tree.dir, 'src/main.ts'),
    clawPath: join(tree.dir, 'bin/claw.js'),
    readEnvironment: () => readEnvironment(tree.dir, environmentOf(tree)),
    ownerConsole: pipedConsole({ input, output, errors }),
    log,
    scrub: (text) => text,
    runId: 'run',
    now: Date.now,
    timing: { healthyMs: 15_000, stopMs: 10_000, crashPauseMs: 10, livenessMs: 60_000 },
    firstChecks: { startLater() {}, stop() {} },
  });
  input.end('/add-hanging\nyes\n/groups\n');
  expect(await supervisor.run()).toBe(0);
  expect(said).toMatch(/It was not ready after \d+ seconds\./);
  expect(said).toContain('Registered:');
  expect(existsSync(join(tree.dir, 'src/channels/hanging.ts'))).toBe(false);
});

test('an assistant that is killed is started again and answers what it had stored', async () => {
  using tree = new TestTree();
  await using conversation = TestConversation.start(tree);
  await conversation.sees('> ');
  const pid = assistantPid(tree);
  conversation.write('/groups\n');
  process.kill(pid, 'SIGKILL');
  expect(await conversation.end('/help\n')).toBe(0);
  expect(conversation.stderr).toContain('Starting it again.');
  expect(conversation.stdout).toContain('- **The assistant**: ');
});

test('wrong settings keep agents from running and nothing else, and name each line to fix', async () => {
  using tree = new TestTree({ '.env': 'BUDGET_USD=1\nMODEL=nonsense\nBUDGET_TOKENS=many\n' });
  await using conversation = TestConversation.start(tree, { OPENAI_API_KEY: 'sk-test' });
  expect(await conversation.end('/groups\nhello\n')).toBe(0);
  expect(conversation.stdout).toContain('MODEL in line 2 of .env must be anthropic/<model>');
  expect(conversation.stdout).toContain('BUDGET_TOKENS in line 3 of .env must be');
  expect(conversation.stdout).toContain('Registered:');
  expect(conversation.stderr).not.toContain('Error');
});

test('a restart is refused while the settings are wrong, and nothing goes down for it', async () => {
  using tree = new TestTree({ '.env': 'ASSISTANT_NAME=Bob\n' });
  await using conversation = TestConversation.start(tree);
  await conversation.sees('I am Bob');
  writeFileSync(join(tree.dir, '.env'), 'ASSISTANT_NAME=Bob\n\nCLAW_MAX_AGENTS=lots\n');
  conversation.write('/restart\n');
  await conversation.sees('CLAW_MAX_AGENTS in line 3 of .env');
  writeFileSync(join(tree.dir, '.env'), 'CLAW_DATA=elsewhere\n');
  conversation.write('/restart\n');
  await conversation.sees('CLAW_DATA');
  rmSync(join(tree.dir, '.env'));
  mkdirSync(join(tree.dir, '.env'));
  conversation.write('/restart\n');
  await conversation.sees('.env cannot be read');
  rmdirSync(join(tree.dir, '.env'));
  writeFileSync(join(tree.dir, '.env'), 'ASSISTANT_NAME=Eve\n');
  expect(await conversation.end('/restart\n')).toBe(0);
  expect(conversation.stdout).toContain('Eve is back.');
  expect(conversation.stdout).not.toContain('Bob is back.');
});

test('an assistant that ends while its settings are wrong comes up again to say so', async () => {
  using tree = new TestTree({ '.env': 'ASSISTANT_NAME=Bob\n' });
  await using conversation = TestConversation.start(tree);
  await conversation.sees('> ');
  writeFileSync(join(tree.dir, '.env'), 'CLAW_MAX_AGENTS=lots\n');
  process.kill(assistantPid(tree), 'SIGKILL');
  await conversation.sees('CLAW_MAX_AGENTS in line 1 of .env');
  rmSync(join(tree.dir, '.env'));
  mkdirSync(join(tree.dir, '.env'));
  process.kill(assistantPid(tree), 'SIGKILL');
  await conversation.sees('.env cannot be read');
  expect(await conversation.end('/groups\n')).toBe(0);
  expect(conversation.stdout).toContain('Registered:');
});

test('a byte-order mark in front of .env takes no setting away', async () => {
  using tree = new TestTree({ '.env': '\ufeffASSISTANT_NAME=Bob\n' });
  await using conversation = TestConversation.start(tree);
  expect(await conversation.end('/groups\n')).toBe(0);
  expect(conversation.stdout).toContain('I am Bob');
});

test('a database that turns out damaged while it is used ends the start with what to do', async () => {
  using tree = new TestTree();
  await using first = TestConversation.start(tree);
  expect(await first.end()).toBe(0);
  const path = join(tree.dataDir, 'claw.db');
  const bytes = readFileSync(path);
  bytes.fill(0xa5, 3 * 4096, 5 * 4096);
  writeFileSync(path, bytes);
  await using second = TestConversation.start(tree);
  expect(await second.end()).toBe(1);
  expect(second.stdout).toContain('run `npx claw repair`: it saves every row');
  expect(second.stdout.split('is damaged').length - 1).toBe(1);
  expect(second.stderr).not.toContain('Starting it again.');
});

test('a second start on the same data folder is refused in one line', async () => {
  using tree = new TestTree();
  await using first = TestConversation.start(tree);
  await first.sees('> ');
  await using second = TestConversation.start(tree);
  expect(await second.end()).toBe(1);
  expect(second.stderr.trim()).toBe(
    `The assistant already runs on ${tree.dataDir} (pid ${first.child.pid}). End that one first, or set CLAW_DATA to another folder.`,
  );
  expect(await first.end('/groups\n')).toBe(0);
  expect(findExposed({ projectDir: tree.dir, dataDir: tree.dataDir })).toEqual([]);
});

test('on a terminal, what is typed during a restart stays on the line and can be finished', async () => {
  using tree = new TestTree();
  const command = `stty cols 60 rows 30; exec ${process.execPath} src/supervisor/start.ts`;
  await using terminal = new TestConversation(
    tree,
    ['script', '-qefc', command, '/dev/null'],
    // Named, so that no set-up is offered first.
    { MODEL: 'anthropic/claude-sonnet-5-5' },
  );
  await terminal.sees('\u001b[1G\u001b[0J> ');
  terminal.write('/restart\r');
  terminal.write('/gro');
  await terminal.sees('Andy is back.');
  terminal.write('ups\r');
  await terminal.sees('Registered:');
  terminal.write('not sent\u0003');
  terminal.write('\u0003');
  await terminal.sees('Press Ctrl-C again');
  terminal.write('\u0004');
  expect(await terminal.end()).toBe(0);
  expect(readFileSync(join(tree.dataDir, 'history'), 'utf8')).toBe('/restart\n/groups\n');
});

test('Tab completes commands, in the terminal of the assistant and in a session beside it', async () => {
  using tree = new TestTree({ 'skills/telegram/manifest.yaml': '' });
  const onTerminal = (program: string) =>
    new TestConversation(
      tree,
      ['script', '-qefc', `stty cols 60 rows 30; exec ${process.execPath} ${program}`, '/dev/null'],
      // Named, so that no set-up is offered first.
      { MODEL: 'anthropic/claude-sonnet-5-5' },
    );
  await using first = onTerminal('src/supervisor/start.ts');
  await first.sees('\u001b[1G\u001b[0J> ');
  await using second = onTerminal('bin/claw.js chat');
  await second.sees('Andy is here.');
  for (const terminal of [first, second]) {
    terminal.write('/add-te\t');
    await terminal.sees('legram');
    // Enter on its own: a tab within a piece of input is a character.
    terminal.write('\u0015/grou\t');
    await terminal.sees('/groups');
    terminal.write('\r');
    await terminal.sees('Registered:');
  }
  second.write('\u0004');
  expect(await second.end()).toBe(0);
  first.write('\u0004');
  expect(await first.end()).toBe(0);
});

test('on a terminal, leaving while an answer is on its way is an end like any other', async () => {
  using tree = new TestTree();
  const command = `stty cols 60 rows 30; exec ${process.execPath} src/supervisor/start.ts`;
  await using terminal = new TestConversation(
    tree,
    ['script', '-qefc', command, '/dev/null'],
    // Named, so that no set-up is offered first.
    { MODEL: 'anthropic/claude-sonnet-5-5' },
  );
  await terminal.sees('\u001b[1G\u001b[0J> ');
  terminal.write('/status\r');
  await terminal.sees('is typing');
  terminal.write('\u0004');
  expect(await terminal.end()).toBe(0);
  expect(terminal.stdout).not.toContain('readline was closed');
});
