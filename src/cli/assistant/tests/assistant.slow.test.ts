import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  environmentOf,
  TestConversation,
  TestTree,
} from '../../../testing/claw/supervised-project.ts';
import { type AnthropicReply, startAnthropicServer } from '../../../testing/model/anthropic.ts';

let tree: TestTree;
let running: TestConversation;
beforeAll(async () => {
  tree = new TestTree();
  running = TestConversation.start(tree);
  await running.sees('> ');
});
afterAll(async () => {
  await running[Symbol.asyncDispose]();
  tree[Symbol.dispose]();
});

async function claw(
  args: readonly string[],
  input = '',
  over: Readonly<Record<string, string | undefined>> = {},
  at: TestTree = tree,
) {
  const child = spawn(process.execPath, [join(at.dir, 'bin/claw.js'), ...args], {
    cwd: at.dir,
    env: { ...environmentOf(at), ...over },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

const GROUPS = 'Registered:\n\n1. Terminal (groups/main, your own chat)\n';

test('a message from a shell is answered there, and not at the assistant’s own terminal', async () => {
  const before = running.stdout;
  expect(await claw(['chat', '/groups'])).toEqual({ code: 0, stdout: GROUPS, stderr: '' });
  const answers = ['Registered:\n\n1. Terminal (groups/main, your own chat)'];
  const { code, stdout } = await claw(['chat', '/groups', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, verb: 'chat', data: { answers } });
  expect(running.stdout).toBe(before);
});

test('lines that are piped in are said one by one, until /exit', async () => {
  const { code, stdout, stderr } = await claw(['chat'], '/groups\n\n/bogus\n/exit\n/help\n');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Registered:\n\n1\. [^\n]*\nThere is no command `\/bogus`[^\n]*\n$/);
});

test('a question that cannot be answered is told in words, and the exit code is 1', async () => {
  const words = expect.stringContaining('There is no key for the model yet.');
  expect(await claw(['chat', 'ping'])).toMatchObject({ code: 1, stdout: words });
  // A later line that is answered does not hide it.
  expect(await claw(['chat'], 'ping\n/groups\n')).toMatchObject({ code: 1, stdout: words });
  const { code, stdout } = await claw(['chat', 'ping', '--json']);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    data: { answers: [words], end: 'no-model' },
  });
  using own = new TestTree();
  await using piped = TestConversation.start(own);
  expect(await piped.end('ping\n')).toBe(0);
  expect(piped.stdout).toEqual(words);
});

test('claw chat ends with 1 where the model gives no answer, and says why', async () => {
  const replies = {
    pong: [{ type: 'text', text: 'pong' }],
    nothing: [],
    'status 400': { kind: 'error', status: 400 },
    'status 401': { kind: 'error', status: 401 },
  } as const;
  const ends = {
    pong: { code: 0, end: 'answered', words: 'pong' },
    nothing: { code: 0, end: 'answered', words: 'ended without an answer' },
    'status 400': { code: 1, end: 'rejected', words: 'left out' },
    'status 401': { code: 1, end: 'failed', words: 'key' },
  } as const;
  let reply: AnthropicReply = [];
  const server = await startAnthropicServer(() => reply);
  using own = new TestTree();
  const over = { ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: server.url };
  for (const name of ['pong', 'nothing', 'status 400', 'status 401'] as const) {
    reply = replies[name];
    const { code, stdout } = await claw(['chat', name, '--json'], '', over, own);
    const { end, words, ...rest } = ends[name];
    expect(JSON.parse(stdout).data).toEqual({ answers: [expect.stringContaining(words)], end });
    expect(code).toBe(rest.code);
  }
  await server.close();
});

test('a dash adds all that is piped in to one message', async () => {
  const { code, stdout } = await claw(['chat', '/groups', '-'], 'zzz\n');
  expect([code, stdout]).toEqual([0, 'Registered:\n\nnone of that name\n']);
  const tooLong = await claw(['chat', '-'], 'x'.repeat(2 ** 21));
  expect(tooLong).toMatchObject({ code: 2, stderr: 'USAGE: A message may have 1 MB at most.\n' });
});

test('a session on a terminal shows answers until Ctrl-D', async () => {
  const command = `stty cols 60 rows 30; exec ${process.execPath} bin/claw.js chat`;
  await using session = new TestConversation(tree, ['script', '-qefc', command, '/dev/null']);
  await session.sees('\u001b[1G\u001b[0J> ');
  session.write('/groups\r');
  await session.sees('Registered:');
  await session.sees('is typing');
  session.write('\u0004');
  expect(await session.end()).toBe(0);
});

test('shells that talk at the same time each get their own answers', async () => {
  const runs = await Promise.all(
    ['a', 'b', 'c'].map((word) => claw(['chat', `/groups ${word}zz`])),
  );
  const none = 'Registered:\n\nnone of that name\n';
  expect(runs.map(({ stdout }) => stdout)).toEqual([none, none, none]);
  const [one, other] = await Promise.all([claw(['chat', '/zzz']), claw(['chat', '/groups'])]);
  expect(one.stdout).toMatch(/^There is no command `\/zzz`[^\n]*\n$/);
  expect(other.stdout).toBe(GROUPS);
});

test('groups and tasks take the words of the owner’s commands', async () => {
  expect((await claw(['groups'])).stdout).toBe(GROUPS);
  expect((await claw(['groups', 'register', 'Family Chat', 'as', 'family'])).stdout).toContain(
    'Family Chat',
  );
  expect((await claw(['tasks'])).stdout).toContain('Nothing is scheduled.');
  expect((await claw(['tasks', 'pause', '3'])).stdout).toContain('There is no task 3.');
  expect(await claw(['tasks', 'dance'])).toMatchObject({ code: 2, stdout: '' });
  const { stdout } = await claw(['groups', '--json']);
  expect(JSON.parse(stdout).data).toEqual([
    {
      jid: 'terminal:main',
      name: 'Terminal',
      channel: 'terminal',
      folder: 'main',
      isMain: true,
      needsTrigger: false,
      trigger: null,
    },
  ]);
});

test('the socket is its owner’s alone, and garbage harms nobody', async () => {
  const path = join(tree.dataDir, 'control.sock');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const replies = await Promise.all(
    ['garbage\n', '{"kind":"say"}\n', '[1]\n', 'x'.repeat(2 ** 21)].map(async (text) => {
      const socket = createConnection(path);
      let got = '';
      socket.on('data', (chunk) => {
        got += chunk;
      });
      socket.on('error', () => {});
      socket.write(text);
      await once(socket, 'close');
      return got.split('\n').at(-2);
    }),
  );
  const refused =
    '{"kind":"refused","message":"The assistant does not know this kind of message."}';
  expect(replies.slice(0, 3)).toEqual([refused, refused, refused]);
  expect(replies[3]).toContain('1 MB at most');
  expect((await claw(['chat', '/groups'])).stdout).toBe(GROUPS);
});

test('a restart that a shell asks for is answered there by the process that comes up', async () => {
  expect(await claw(['chat', '/restart'])).toEqual({
    code: 0,
    stdout: 'Andy is back.\n',
    stderr: '',
  });
});

test('new settings count at once in the running assistant', async () => {
  const server = await startAnthropicServer(() => [{ type: 'text', text: 'ok' }]);
  const run = await claw(['setup', 'model', '--base-url', server.url], 'sk-test-key\n');
  await server.close();
  expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('Andy is back.') });
  expect((await claw(['chat', '/status'])).stdout).toContain('(key is set)');
  rmSync(join(tree.dir, '.env'));
});

test('a step that only shows something, or sets what counts at once, leaves the running assistant alone', async () => {
  const step = `
    import { defineSetup } from './step.ts';
    export const setup = defineSetup({
      name: 'looking', help: 'look', usage: '[set]',
      run: async ({ args }) => args.length > 0
        ? { summary: 'It is set.', data: {} }
        : { summary: 'It is there.', data: {}, needsRestart: false },
    });`;
  const path = join(tree.dir, 'src/setup/looking.ts');
  writeFileSync(path, step);
  expect(await claw(['setup', 'looking'])).toMatchObject({ code: 0, stdout: 'It is there.\n' });
  const set = await claw(['setup', 'looking', 'set']);
  rmSync(path);
  expect(set.stdout).toContain('It is set. The running assistant has taken it up: Andy is back.');
});

test('without a running assistant one is started for the chat, also below a long path', async () => {
  using own = new TestTree();
  const data = join(own.dir, 'x'.repeat(90), 'data');
  mkdirSync(data, { recursive: true });
  const temporary = join(own.dir, 't');
  mkdirSync(temporary);
  const environment = { CLAW_DATA: data, TMPDIR: temporary };
  expect(await claw(['groups'], '', environment, own)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The assistant does not run'),
  });
  expect(await claw(['tasks', 'pause', '3'], '', environment, own)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ASSISTANT_STOPPED: Only the assistant does that'),
  });
  expect(await claw(['chat', '/groups'], '', environment, own)).toEqual({
    code: 0,
    stdout: GROUPS,
    stderr: 'The assistant does not run: starting it for this.\n',
  });
  expect(existsSync(join(data, 'control.sock'))).toBe(false);
  expect(readdirSync(temporary)).toEqual([]);
  expect((await claw(['groups'], '', environment, own)).stdout).toBe(
    'Registered:\n  Terminal (groups/main, your own chat)\nThe assistant does not run; this is what it knew last.\n',
  );
});

test('claw start and claw chat start the assistant as npm start and the service do', async () => {
  const ways = { chat: ['chat', '/groups'], start: ['start'] };
  for (const [name, args] of Object.entries(ways)) {
    using own = new TestTree();
    const over = { CLAW_DATA: join(own.dir, name), NODE_COMPILE_CACHE: undefined };
    expect(await claw(args, '', over, own)).toMatchObject({ code: 0 });
    // Only the entry file keeps compiled code there.
    expect(readdirSync(join(own.dir, name, 'cache/code'))).not.toEqual([]);
  }
});

test('an assistant that cannot start says why', async () => {
  const other = join(tree.dir, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'claw.db'), 'no database at all'.repeat(100));
  const environment = { CLAW_DATA: other };
  const run = await claw(['chat', '/groups'], '', environment);
  expect(run).toMatchObject({ code: 1, stdout: '' });
  expect(run.stderr).toContain('ASSISTANT_STOPPED: The assistant did not start.');
  expect(run.stderr).toContain('is damaged: file is not a database');
});

test('a file that keeps the assistant from starting is one line and what to do; the log has the stack', async () => {
  using broken = new TestTree({
    'src/tools/owl.ts': `import { defineTool } from '../host/contracts/tool.ts';
export const tool = defineTool({ name: 'owl', create() { throw new Error('no night'); } });`,
  });
  await using conversation = TestConversation.start(broken);
  expect(await conversation.end()).toBe(1);
  const file = join(broken.dir, 'src/tools/owl.ts');
  expect(conversation.stderr).toContain(
    `Error: ${file} cannot be made: no night (line 2)\nMend that file`,
  );
  expect(conversation.stdout).toMatch(/^The assistant cannot start:/);
  expect(conversation.stderr).not.toMatch(/^\s+at /m);
  expect(readFileSync(broken.logFile('assistant'), 'utf8')).toMatch(/no night\\n\s+at /);
});

test('a killed assistant leaves nothing in the way, and the shell is told', async () => {
  running.child.kill('SIGKILL');
  await once(running.child, 'close');
  expect(existsSync(join(tree.dataDir, 'control.sock'))).toBe(true);
  expect((await claw(['tasks'])).stdout).toContain('The assistant does not run');
  running = TestConversation.start(tree);
  await running.sees('> ');
  expect((await claw(['chat', '/groups'])).stdout).toBe(GROUPS);
});
