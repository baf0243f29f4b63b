import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { addSkill, temporaryCodebase } from '../../testing/claw/codebase.ts';
import { TestConversation, TestTree } from '../../testing/claw/supervised-project.ts';
import { startAnthropicServer } from '../../testing/model/anthropic.ts';
import { listOf, startOpenAiServer } from '../../testing/model/openai.ts';

const CLAW = join(import.meta.dirname, '../../../bin/claw.js');

async function setup(root: string, key: string, ...args: string[]) {
  const child = spawn(process.execPath, [CLAW, 'setup', '--cwd', root, '--json', ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.end(`${key}\n`);
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, json: JSON.parse(stdout) };
}

test('a key is believed after one real completion, and written for its owner alone', async () => {
  await using codebase = temporaryCodebase({ '.env': 'OTHER=kept\nANTHROPIC_API_KEY=old\n' });
  chmodSync(codebase.path('.env'), 0o644);
  const server = await startAnthropicServer(() => [{ type: 'text', text: 'ok' }]);
  try {
    const run = await setup(codebase.root, 'sk-test-key', '--base-url', server.url);
    expect(run).toMatchObject({ code: 0, json: { ok: true, verb: 'setup' } });
    expect(run.json.data.summary).toContain('`npx claw setup service`');
    expect(server.requests.length).toBe(1);
    expect(codebase.read('.env')).toBe(
      `OTHER=kept\nANTHROPIC_API_KEY=sk-test-key\nANTHROPIC_BASE_URL=${server.url}\n`,
    );
    expect(statSync(codebase.path('.env')).mode & 0o777).toBe(0o600);
  } finally {
    await server.close();
  }
});

test('a key of another provider goes back to the default model', async () => {
  await using codebase = temporaryCodebase({ '.env': 'MODEL=openai/other\n' });
  const server = await startAnthropicServer(() => [{ type: 'text', text: 'ok' }]);
  try {
    const run = await setup(codebase.root, 'sk-test-key', '--base-url', server.url);
    expect(run).toMatchObject({
      code: 0,
      json: { data: { model: expect.stringMatching(/^anthropic\//) } },
    });
    expect(codebase.read('.env')).toContain('MODEL=\n');
  } finally {
    await server.close();
  }
});

test('an address that is none is wrong use', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': '' });
  const run = await setup(codebase.root, 'sk-test-key', '--base-url', 'nonsense');
  expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  expect(codebase.has('.env')).toBe(false);
});

test('a provider that a skill would bring is named with its skill', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': '' });
  addSkill(codebase, 'more', { add: { 'src/model/providers/far.ts': 'export {};\n' } });
  for (const name of ['far', 'nonsense']) {
    const run = await setup(codebase.root, 'sk-key', '--provider', name);
    expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
    expect(run.json.error.message).toContain(`not "${name}".`);
    expect(run.json.error.message.includes('`npx claw apply more`')).toBe(name === 'far');
  }
});

test('a refused key is not written', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': '' });
  const server = await startAnthropicServer(() => ({ kind: 'error', status: 401, message: 'no' }));
  try {
    const run = await setup(codebase.root, 'sk-wrong', '--base-url', server.url);
    expect(run).toMatchObject({ code: 1, json: { error: { code: 'MODEL_REFUSED' } } });
    expect(codebase.has('.env')).toBe(false);
  } finally {
    await server.close();
  }
});

test('without a terminal, and without a name, it says what to give', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': '' });
  const run = await setup(codebase.root, 'sk-test-key');
  expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  expect(run.json.error.message).toMatch(/`npx claw setup model < .*`npx claw setup whatsapp`/);
  expect(codebase.has('.env')).toBe(false);
});

test('a set-up that is not there is named, beside those that are', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': '' });
  const run = await setup(codebase.root, '', 'nonsense');
  expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  expect(run.json.error.message).toContain('model, starter, whatsapp, service');
});

test('the service is set up under the name that the walk shows, and takes no options', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': '' });
  const run = await setup(codebase.root, '', 'service', '--system');
  expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  expect(run.json.error.message).toContain('claw service install');
});

test('a step reads its own options, and the model’s set-up takes no others', async () => {
  await using codebase = temporaryCodebase({ 'a.txt': '' });
  for (const args of [
    ['whatsapp', '--phone', 'mine'],
    ['model', '--phone', 'mine'],
  ]) {
    const run = await setup(codebase.root, '', ...args);
    expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  }
  expect(codebase.has('data')).toBe(false);
});

/** `claw setup` on a terminal of its own, which the test reads and types on. */
function onTerminal(root: string, ...args: string[]) {
  const claw = `exec ${process.execPath} ${CLAW} setup --cwd ${root} ${args.join(' ')}`;
  const child = spawn('script', ['-qefc', `stty cols 150 rows 40; ${claw}`, '/dev/null'], {
    env: { PATH: process.env['PATH'], HOME: root, TERM: 'xterm' },
  });
  let seen = '';
  child.stdout.on('data', (chunk) => {
    seen += stripVTControlCharacters(String(chunk));
  });
  const code = new Promise((resolve) => child.on('close', resolve));
  return {
    code,
    type: (keys: string) => void child.stdin.write(keys),
    seen: () => seen,
    /** Waits for a text, and forgets what was seen up to it. */
    async sees(part: string) {
      await vi.waitFor(() => expect(seen).toContain(part));
      seen = seen.slice(seen.indexOf(part) + part.length);
    },
    /** Says no to every question up to the last, the service: a skill that is applied may bring some. */
    async refusesTheRest() {
      for (let name = ''; name !== 'service'; ) {
        await vi.waitFor(() => expect(seen).toMatch(QUESTION));
        const [text = '', stage = ''] = QUESTION.exec(seen) ?? [];
        seen = seen.slice(seen.indexOf(text) + text.length);
        name = stage;
        child.stdin.write('n');
      }
    },
  };
}

const QUESTION = /([a-z][\w-]*): [^:]*?(?:Set it up now|Change it)\?/;

test('on a terminal, without a name, it walks through everything and takes a no', async () => {
  await using codebase = temporaryCodebase({ '.env': 'ANTHROPIC_API_KEY=sk-test-key\n' });
  const terminal = onTerminal(codebase.root);
  await terminal.refusesTheRest();
  expect(await terminal.code).toBe(0);
  expect(terminal.seen()).toContain('whatsapp: not set up; `npx claw setup whatsapp` does it');
  expect(terminal.seen()).toContain('service: not set up; `npx claw setup service` does it');
  expect(terminal.seen()).toContain('Nothing was changed.');
  expect(codebase.read('.env')).toBe('ANTHROPIC_API_KEY=sk-test-key\n');
});

test('if the service is installed, the end names its command and not `npm start`', async () => {
  await using codebase = temporaryCodebase({ '.env': 'ANTHROPIC_API_KEY=sk-test-key\n' });
  const terminal = onTerminal(codebase.root);
  for (const name of ['model', 'whatsapp']) {
    await terminal.sees(`${name}: `);
    await terminal.sees('?');
    terminal.type('n');
  }
  await terminal.sees('service: ');
  await terminal.sees('Set it up now?');
  terminal.type('y');
  expect(await terminal.code).toBe(0);
  expect(terminal.seen()).toContain('Changed: service. Start it with `systemctl --user restart');
  const starter = onTerminal(codebase.root, 'starter');
  expect(await starter.code).toBe(0);
  expect(starter.seen()).toContain('Start the assistant with `systemctl --user restart');
});

test('the starter set is offered, and one yes applies it; it is named in the tree that has it', async () => {
  await using codebase = temporaryCodebase({
    '.env': 'ANTHROPIC_API_KEY=sk-test-key\n',
    'skills/starter-set.json': '["loud", "quiet", "gone"]',
  });
  addSkill(codebase, 'loud', { add: { 'loud.txt': 'LOUD\n' } });
  addSkill(codebase, 'quiet', { add: { 'quiet.txt': 'quiet\n' } });
  const terminal = onTerminal(codebase.root);
  await terminal.sees('with a key. Change it?');
  terminal.type('n');
  await terminal.sees(
    'starter: the skills that most people want: loud, quiet. Not set up. Set it up now?',
  );
  terminal.type('y');
  await terminal.sees('In: loud, quiet.');
  await terminal.refusesTheRest();
  expect(await terminal.code).toBe(0);
  expect(terminal.seen()).toContain('starter: set up, loud, quiet');
  expect(codebase.read('quiet.txt')).toBe('quiet\n');
  const again = await setup(codebase.root, '', 'starter');
  expect(again).toMatchObject({
    code: 0,
    json: { data: { summary: expect.stringContaining('In: loud, quiet.') } },
  });
});

test('a refused key is asked for again, and what is typed answers no other question', async () => {
  const server = await startAnthropicServer(({ headers }) =>
    headers['x-api-key'] === 'sk-good'
      ? [{ type: 'text', text: 'ok' }]
      : { kind: 'error', status: 401 },
  );
  await using codebase = temporaryCodebase({ '.env': `ANTHROPIC_BASE_URL=${server.url}\n` });
  const terminal = onTerminal(codebase.root);
  await terminal.sees('model: the language model');
  terminal.type('y');
  await terminal.sees('Whose model do you want to use?');
  terminal.type('\r');
  await terminal.sees('API key');
  terminal.type('\r');
  await terminal.sees('Paste the key.');
  terminal.type('sk-bad\r');
  await terminal.sees('Try again; Esc goes back');
  await terminal.sees('API key');
  // With a y in it, as keys have: it must not say yes to WhatsApp or to the service.
  terminal.type('sky-bad-yes\r');
  await terminal.sees('Try again; Esc goes back');
  await terminal.sees('API key');
  terminal.type('sk-good\r');
  await terminal.sees('The model answers');
  await terminal.refusesTheRest();
  expect(await terminal.code).toBe(0);
  await server.close();
  expect(terminal.seen()).toMatch(
    /model: set up, anthropic[\s\S]*whatsapp: not set up;.*\s+service: not set up;/,
  );
  expect(codebase.read('.env')).toContain('ANTHROPIC_API_KEY=sk-good\n');
});

test('a key that was typed for one address is not sent to another one', async () => {
  const refusing = await startOpenAiServer(
    () => 'ok',
    (response) => void response.writeHead(401).end(),
  );
  const seen: (string | undefined)[] = [];
  const other = await startOpenAiServer(
    () => 'ok',
    (response, headers) => {
      seen.push(headers.authorization);
      listOf('small-1')(response, headers);
    },
  );
  await using codebase = temporaryCodebase({ '.env': '' });
  const terminal = onTerminal(codebase.root, 'model');
  await terminal.sees('another server');
  terminal.type('\u001b[A\r');
  await terminal.sees('Address of the server');
  terminal.type(`${refusing.url}/v1\r`);
  await terminal.sees('API key');
  terminal.type('sk-of-the-first\r');
  await terminal.sees('Enter keeps the one you typed');
  terminal.type('\u001b');
  await terminal.sees('Address of the server');
  terminal.type(`\u0015${other.url}/v1\r`);
  await terminal.sees('Enter if it needs none');
  terminal.type('\r');
  await terminal.sees('The model (type to search)');
  await terminal.sees('small-1');
  terminal.type('\r');
  expect(await terminal.code).toBe(0);
  expect(seen).not.toContain('Bearer sk-of-the-first');
  expect(codebase.read('.env')).not.toContain('sk-of-the-first');
  await refusing.close();
  await other.close();
});

test('the set-up of a skill that is not added yet names the skill', async () => {
  await using codebase = temporaryCodebase({
    'skills/raven/add/src/setup/raven.ts': 'export const setup = null;\n',
  });
  const run = await setup(codebase.root, '', 'raven');
  expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  expect(run.json.error.message).toContain('The skill raven brings it: add that first');
  const unknown = await setup(codebase.root, '', 'rave');
  expect(unknown.json.error.message).not.toContain('The skill');
});

test('an address is checked when it is given; the field is empty, and Esc leads out of it', async () => {
  await using codebase = temporaryCodebase({ '.env': '' });
  const terminal = onTerminal(codebase.root, 'model', '--model', 'mine');
  await terminal.sees('another server');
  terminal.type('\u001b[A\r');
  await terminal.sees('Address of the server');
  terminal.type('\r');
  await terminal.sees('Type the address of the server');
  terminal.type('localhost:11434/v1\r');
  await terminal.sees('An address begins with http://');
  terminal.type('\u0015https://api.example.org/v1not a url\r');
  await terminal.sees('An address has no spaces');
  terminal.type('\u0015http://localhost:99999/v1\r');
  await terminal.sees('A port is a number from 1 to 65535');
  terminal.type('\u0015http://127.0.0.1:6000/v1\r');
  await terminal.sees('programs may not call port 6000');
  await terminal.sees('Address of the server');
  terminal.type('\u001b');
  await terminal.sees('Whose model do you want to use?');
  terminal.type('\u0003');
  await terminal.sees('Set-up cancelled; nothing was written.');
  await terminal.code;
  expect(codebase.read('.env')).toBe('');
  for (const address of ['', 'localhost:11434', 'https://api.example.org/v1not a url']) {
    const args = ['--provider', 'openai', '--model', 'mine', '--base-url', address];
    const run = await setup(codebase.root, '', ...args);
    expect(run).toMatchObject({ code: 2, json: { error: { code: 'USAGE' } } });
  }
});

test('the model is chosen from the list of its server, or typed where it is not there', async () => {
  const server = await startOpenAiServer(() => 'ok', listOf('small-1', 'large-1', 'large-2'));
  for (const [keys, model] of [
    ['large-2', 'large-2'],
    ['another', 'hidden-3'],
    ['hidden-4', 'hidden-4'],
  ] as const) {
    await using codebase = temporaryCodebase({ '.env': '' });
    const address = ['--base-url', `${server.url}/v1`];
    const terminal = onTerminal(codebase.root, 'model', '--provider', 'openai', ...address);
    await terminal.sees('API key');
    terminal.type('sk-1\r');
    await terminal.sees('The model (type to search)');
    await terminal.sees('large-2');
    terminal.type(keys);
    await terminal.sees(keys);
    terminal.type('\r');
    if (model.startsWith('hidden')) {
      await terminal.sees('Name of the model');
      // A search that finds nothing is taken for the name.
      terminal.type(keys === model ? '\r' : `\u0015${model}\r`);
    }
    expect(await terminal.code).toBe(0);
    expect(codebase.read('.env')).toContain(`MODEL=openai/${model}\n`);
  }
  await server.close();
});

test('a key that the list of models is refused with is asked for again, and why there is no list is said', async () => {
  const server = await startOpenAiServer(
    () => 'ok',
    (response, headers) => {
      if (headers.authorization !== 'Bearer sk-good') response.writeHead(401).end();
      else response.writeHead(500).end();
    },
  );
  await using codebase = temporaryCodebase({ '.env': '' });
  const address = ['--base-url', `${server.url}/v1`];
  const terminal = onTerminal(codebase.root, 'model', '--provider', 'openai', ...address);
  await terminal.sees('API key');
  terminal.type('sk-bad\r');
  await terminal.sees('refused the API key (401)');
  await terminal.sees('API key');
  terminal.type('sk-good\r');
  await terminal.sees('gave no list of models (500).');
  await terminal.sees('Name of the model');
  terminal.type('small-1\r');
  await terminal.sees('The model answers; .env holds the key.');
  expect(await terminal.code).toBe(0);
  expect(codebase.read('.env')).toContain('MODEL=openai/small-1\n');
  await server.close();
});

test('a server without a key: Enter takes the first model of its list, and no key is spoken of', async () => {
  const server = await startOpenAiServer(() => 'ok', listOf('small-1', 'large-1'));
  await using codebase = temporaryCodebase({ '.env': '' });
  const terminal = onTerminal(codebase.root, 'model', '--provider', 'openai');
  await terminal.sees('another server');
  terminal.type('\u001b[A\r');
  await terminal.sees('Address of the server');
  terminal.type(`${server.url}/v1\r`);
  await terminal.sees('API key');
  terminal.type('\r');
  await terminal.sees('The model (type to search)');
  await terminal.sees('large-1');
  terminal.type('\r');
  await terminal.sees('The model answers; .env names it.');
  expect(await terminal.code).toBe(0);
  expect(codebase.read('.env')).toContain('MODEL=openai/small-1\n');
  await server.close();
});

test('an assistant that runs is left alone when it asks for the set-up itself', async () => {
  await using codebase = temporaryCodebase({ '.env': '' });
  const model = await startAnthropicServer(() => [{ type: 'text', text: 'ok' }]);
  mkdirSync(codebase.path('data'));
  let calls = 0;
  const assistant = createServer((socket) => {
    calls += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) =>
    assistant.listen(codebase.path('data/control.sock'), resolve),
  );
  try {
    const run = await setup(codebase.root, 'sk-key', '--base-url', model.url, '--no-restart');
    expect(run).toMatchObject({
      code: 0,
      json: { data: { summary: 'The model answers; .env holds the key.' } },
    });
    expect(calls).toBe(0);
    await setup(codebase.root, 'sk-key', '--base-url', model.url);
    expect(calls).toBe(1);
  } finally {
    assistant.close();
    await model.close();
  }
});

test('the help of setup lists the steps that are in the tree, a skill’s too', async () => {
  const step = [
    "import { defineSetup } from './step.ts';",
    "export const setup = defineSetup({ name: 'lamp', help: 'pair a lamp', usage: '[--blink]',",
    "  run: async () => ({ summary: '', data: {} }) });",
  ];
  using tree = new TestTree({ 'src/setup/lamp.ts': step.join('\n') });
  const claw = new TestConversation(tree, [process.execPath, 'bin/claw.js', 'setup', '--help']);
  expect(await claw.end()).toBe(0);
  expect(claw.stdout).toContain('lamp [--blink]\n      pair a lamp\n');
  for (const name of ['model', 'whatsapp [--phone NUMBER]', 'service']) {
    expect(claw.stdout).toContain(`\n  ${name}`);
  }
});

test('the first start asks for a model, and an owner who leaves has only put it off', async () => {
  const server = await startOpenAiServer(() => 'ok', listOf('small-1'));
  await using codebase = temporaryCodebase({ '.env': '' });
  // As at a start, which shows nothing of what goes to stdout.
  const first = onTerminal(codebase.root, '--if-needed', '>/dev/null');
  await first.sees('Welcome to Patchclaw.');
  await first.sees('OpenRouter');
  first.type('\u0003');
  await first.sees('`npx claw setup` connects one later.');
  expect(await first.code).toBe(0);
  const second = onTerminal(codebase.root, '--if-needed');
  await second.sees('another server');
  second.type('\u001b[A\r');
  await second.sees('Address of the server');
  second.type(`${server.url}/v1\r`);
  await second.sees('API key');
  second.type('\r');
  await second.sees('The model (type to search)');
  second.type('\r');
  await second.sees('The model answers');
  expect(await second.code).toBe(0);
  const third = onTerminal(codebase.root, '--if-needed');
  expect(await third.code).toBe(0);
  expect(third.seen()).not.toContain('Welcome');
  await server.close();
});
