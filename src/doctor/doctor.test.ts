import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Docker from 'dockerode';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { openLinkDatabase } from '../channels/whatsapp/session/link-database.ts';
import { readSettings } from '../config.ts';
import { discoverContributions } from '../contributions.ts';
import { discoverTools } from '../host/contracts/tool.ts';
import { openLoopback } from '../http/open.ts';
import { shortHash } from '../sandbox/protocol/socket-folder.ts';
import { openOwnDatabases } from '../store/own-databases.ts';
import { openStore } from '../store/store.ts';
import { ContributionFolder } from '../testing/contributions.ts';
import { describeWithEngine } from '../testing/engine.ts';
import { type AnthropicReply, startAnthropicServer } from '../testing/model/anthropic.ts';
import { listOf, startOpenAiServer } from '../testing/model/openai.ts';
import { TEST_KEY } from '../testing/sandbox-project.ts';
import { environmentOf, TestConversation, TestTree } from '../testing/supervised-project.ts';
import { examineAssistant, type Finding } from './examination.ts';
import { examineApart } from './parts/examine-apart.ts';
import { examineParts } from './parts.ts';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const OK: AnthropicReply = [{ type: 'text', text: 'ok' }];

/** An assistant as far as the lock goes, in a process of its own. */
const HOLD_LOCK = `
  const { lockInstance } = await import(process.argv[1] + '/src/supervisor/instance-lock.ts');
  globalThis.lock = lockInstance(process.argv[2], process.pid);
  process.stdout.write('held');
  setInterval(() => {}, 1000);`;

let folder: string;
let data: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'claw-doctor-')));
  data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  cpSync(join(REPOSITORY, 'container'), join(folder, 'container'), { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

type Given = {
  readonly env?: Record<string, string>;
  readonly now?: number;
  readonly online?: boolean;
};

/**
 * Returns the findings of one area. Podman is asked because that is fastest: where it is absent, no engine
 * is tried.
 */
async function found(
  area: string,
  { env = {}, now, online = false }: Given = {},
): Promise<readonly Finding[]> {
  const environment = { CLAW_SANDBOX: 'podman', ANTHROPIC_API_KEY: TEST_KEY, ...env };
  let settings = null;
  try {
    settings = readSettings(environment, folder);
  } catch {
    // What the doctor is to say.
  }
  const findings = await examineAssistant({
    projectDir: folder,
    dataDir: data,
    homeDir: '/nowhere',
    environment,
    settings,
    isOffline: !online,
    now: () => now ?? Date.now(),
  });
  expect(JSON.stringify(findings)).not.toContain(TEST_KEY);
  for (const { ok, advice } of findings) expect(ok || advice !== null).toBe(true);
  return findings.filter((finding) => finding.area === area);
}

test('settings that do not parse are named, and all else is looked at', async () => {
  expect(await found('settings', { env: { MODEL: 'gpt' } })).toMatchObject([
    { ok: false, message: expect.stringMatching(/^MODEL in the environment/) },
  ]);
  expect(await found('database', { env: { MODEL: 'gpt' } })).toMatchObject([{ ok: true }]);
  writeFileSync(join(folder, '.env'), '', { mode: 0o644 });
  expect(await found('settings')).toMatchObject([
    { ok: true, advice: null },
    { ok: true, advice: `chmod 600 ${folder}/.env` },
  ]);
});

test.each<[string, AnthropicReply, RegExp]>([
  ['a wrong key', { kind: 'error', status: 401, message: `no ${TEST_KEY}` }, /refused the API key/],
  ['an unknown model', { kind: 'error', status: 404 }, /does not know "claude-sonnet-4-5"/],
  [
    'an empty account',
    { kind: 'error', status: 400, message: 'Your credit balance is too low' },
    /no credit left \(400\)/,
  ],
])('%s is told in a sentence, with the clock of the server', async (_, reply, message) => {
  const server = await startAnthropicServer(() => reply);
  const given = { env: { ANTHROPIC_BASE_URL: server.url }, online: true };
  expect(await found('model', given)).toMatchObject([
    { ok: false, message: expect.stringMatching(message) },
  ]);
  const [clock] = await found('clock', given);
  expect(clock).toMatchObject({ ok: true, message: expect.stringMatching(/clock is right$/) });
  await server.close();
});

test('a model that answers is well; a clock that is far off is not', async () => {
  const server = await startAnthropicServer(() => OK);
  const given = { env: { ANTHROPIC_BASE_URL: server.url }, online: true };
  const answered = expect.stringMatching(/^anthropic\/claude-sonnet-4-5 answered in \d\.\d s$/);
  expect(await found('model', given)).toMatchObject([{ ok: true, message: answered }]);
  expect(await found('clock', { ...given, now: Date.now() + 300_000 })).toMatchObject([
    { ok: true },
    { ok: false, message: expect.stringContaining('5 minutes fast') },
  ]);
  const asked = server.requests.length;
  expect(await found('model', { env: given.env })).toMatchObject([
    { ok: true, message: expect.stringContaining('not asked') },
  ]);
  expect(server.requests).toHaveLength(asked);
  await server.close();
  expect(await found('model', given)).toMatchObject([
    { ok: false, message: expect.stringContaining('nothing listens there') },
  ]);
});

test('a chosen model that is gone is named with its successor, one that cannot be asked with the reason', async () => {
  const server = await startOpenAiServer(() => 'ok', listOf('gpt-5', 'tiny'));
  const store = openStore({ path: join(data, 'claw.db'), now: 1 });
  const facts = { contextTokens: null, price: null };
  store.modelChoices.set(null, { name: 'openai/tiny', ...facts });
  store.modelChoices.set('club', { name: 'openai/gpt-4', ...facts });
  store.modelChoices.set('family', { name: 'acme/x', ...facts });
  store.close();
  const env = { MODEL: 'openai/gpt-5', OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'k' };
  const findings = await found('model', { env, online: true });
  await server.close();
  expect(findings).toMatchObject([
    { ok: true, message: expect.stringContaining('openai/gpt-5 answered') },
    { ok: true, message: 'all chats: openai/tiny' },
    {
      ok: false,
      message: 'the chat in groups/club: openai/gpt-4 is not in the list of its server',
      advice: expect.stringContaining('Its nearest successor there is openai/gpt-5.'),
    },
    { ok: false, message: expect.stringContaining('acme/x: No provider here has it.') },
  ]);
});

test('a database that is whole, one with a changed migration, and one that is damaged', async () => {
  const path = join(data, 'claw.db');
  const migrations = join(REPOSITORY, 'src/store/migrations');
  const copy = join(folder, 'migrations');
  cpSync(migrations, copy, { recursive: true });
  writeFileSync(join(copy, 'core/1.sql'), '-- another\n', { flag: 'a' });
  openStore({ path, migrationsDir: copy, now: 1 }).close();
  expect(await found('database')).toMatchObject([
    { ok: false, message: expect.stringContaining('migrations/core/1.sql was changed') },
  ]);
  rmSync(path);
  openStore({ path, now: 1 }).close();
  expect(await found('database')).toMatchObject([
    { ok: true, message: expect.stringContaining('whole') },
  ]);
  writeFileSync(path, 'SQLite format 3\0 and nothing of the kind'.repeat(99));
  expect(await found('database')).toMatchObject([
    { ok: false, message: expect.stringContaining('is damaged') },
  ]);
});

test('the database of a skill that is damaged is named, one that is whole needs no line', async () => {
  const own = openOwnDatabases({ dataDir: data, now: () => 1 });
  own.of('tool', 'notes')(['CREATE TABLE notes (id INTEGER)']);
  own.of('service', 'hook')(['CREATE TABLE seen (id INTEGER)']);
  own.close();
  expect(await found('database')).toHaveLength(1);
  const path = join(data, 'databases/service-hook.db');
  writeFileSync(path, 'SQLite format 3\0 and nothing of the kind'.repeat(99));
  expect(await found('database')).toMatchObject([
    { ok: true },
    { ok: false, message: expect.stringContaining(`${path} is damaged`) },
  ]);
});

test('messages that wait because a filter cannot look at them are counted with its reason', async () => {
  expect(await found('inbound')).toEqual([]);
  const store = openStore({ path: join(data, 'claw.db'), now: 1 });
  store.chats.see({ jid: 'chat:ada', channel: 'chat', name: 'Ada', isDirect: true }, 1);
  store.groups.registerMain({ jid: 'chat:ada', name: 'Ada' }, 1);
  for (const id of ['a', 'b', 'c']) {
    store.heldMessages.add({ jid: 'chat:ada', id, sender: 'ada', payload: {} }, 1);
  }
  for (const seq of [1, 2]) store.heldMessages.note(seq, 'spam: no dictionary');
  store.close();
  expect(await found('inbound')).toMatchObject([
    { ok: false, message: '2 messages wait for the inbound filter spam: no dictionary' },
  ]);
});

test('a package of package.json that is not there, or too old, is named', async () => {
  expect(await found('packages')).toEqual([]);
  const dependencies = { zod: '^4.0.0', owl: '^2.0.0', jay: '^1.0.0', local: 'file:../local' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies }));
  for (const [name, version] of [
    ['zod', '4.1.0'],
    ['owl', '1.9.0'],
    ['local', '0.0.1'],
  ] as const) {
    mkdirSync(join(folder, 'node_modules', name), { recursive: true });
    writeFileSync(join(folder, 'node_modules', name, 'package.json'), JSON.stringify({ version }));
  }
  expect((await found('packages')).map(({ ok, message }) => [ok, message])).toEqual([
    [false, 'package.json needs owl ^2.0.0; installed is 1.9.0.'],
    [false, 'package.json needs jay, which is not installed.'],
  ]);
});

test('a part whose create throws is named with its file, as at the start; one that lacks a setting, too', async () => {
  const tool = (name: string, create: string) => `import { z } from 'zod';
import { defineTool } from 'src/host/contracts/tool.ts';
export const tool = defineTool({ name: '${name}', settings: z.object({ OWL_KEY: z.string().optional() }),
  needs: ['OWL_KEY'], create: ${create} });`;
  using tools = new ContributionFolder({
    'owl.ts': tool(
      'owl',
      `({ settings, openDatabase }) => {
      openDatabase(['CREATE TABLE nights (id INTEGER)']);
      if (settings.OWL_KEY === undefined) return null;
      throw new Error('no night');
    }`,
    ),
  });
  const contributions = {
    ...(await discoverContributions()),
    tools: await discoverTools(tools.dir),
  };
  const look = (environment: Record<string, string>) =>
    examineParts(contributions, {
      projectDir: folder,
      dataDir: data,
      homeDir: '/nowhere',
      environment,
      settings: null,
      isOffline: true,
      now: Date.now,
    });
  expect(look({})).toMatchObject([
    { ok: true, message: expect.stringMatching(/^\d+ are loaded/) },
    { ok: true, message: 'the tool owl is off: OWL_KEY is not set' },
  ]);
  expect(look({ OWL_KEY: 'k' })).toMatchObject([
    { ok: false, message: `${join(tools.dir, 'owl.ts')} cannot be made: no night (line 7)` },
  ]);
  expect(existsSync(join(data, 'databases'))).toBe(false);
  expect(await found('parts')).toMatchObject([{ ok: true }]);
});

test.each([
  ['process.exit(0)', /^FILE cannot be made: it ended the process, with 0$/],
  [
    `console.log('x'); void Promise.reject(new Error('boom'))`,
    /^What was made broke afterwards: boom \(FILE:3\)$/,
  ],
  [
    `writeFileSync(process.env.HERE, ''); for (;;);`,
    /^FILE cannot be made: it does not come to an end$/,
  ],
  ['setInterval(() => {}, 1_000)', null],
])('a part that does this when it is made does no harm to who looks: %s', async (work, told) => {
  const here = join(folder, 'here');
  using parts = new ContributionFolder({
    'evil.ts': `import { writeFileSync } from 'node:fs';
import { defineTool } from 'src/host/contracts/tool.ts';
export const tool = defineTool({ name: 'evil', create() { ${work}; return null; } });`,
  });
  using program = new ContributionFolder({
    'child.ts': `import { discoverContributions } from 'src/contributions.ts';
import { discoverTools } from 'src/host/contracts/tool.ts';
import { examineParts } from 'src/doctor/parts.ts';
import { examineForParent } from 'src/doctor/parts/examine-apart.ts';
await examineForParent(examineParts, async () => ({
  ...(await discoverContributions()), tools: await discoverTools('${parts.dir}') }));`,
  });
  const giveUp = new AbortController();
  const watched = watch(folder, () => existsSync(here) && giveUp.abort());
  const findings = await examineApart(
    join(program.dir, 'child.ts'),
    {
      projectDir: folder,
      dataDir: data,
      homeDir: '/nowhere',
      environment: { HERE: here },
      settings: null,
      isOffline: true,
      now: Date.now,
    },
    { area: 'parts', advice: 'mend', signal: giveUp.signal },
  );
  watched.close();
  const file = join(parts.dir, 'evil.ts');
  if (told === null) return expect(findings[0]).toMatchObject({ ok: true });
  const message = findings[0]?.message.replace(file, 'FILE');
  expect(message).toMatch(told);
});

test('what others could look into is named with the command that closes it', async () => {
  writeFileSync(join(data, 'claw.db-wal'), '', { mode: 0o644 });
  chmodSync(data, 0o755);
  expect(await found('data')).toMatchObject([
    { ok: true, message: expect.stringMatching(/^\d+ \w+ in .*, .* free$/) },
    {
      ok: true,
      advice: expect.stringContaining(`chmod 700 ${data}; chmod 600 ${data}/claw.db-wal`),
    },
  ]);
});

test('the link to WhatsApp: not there, paired, in use, removed', async () => {
  const said = async () => (await found('whatsapp'))[0];
  expect(await said()).toMatchObject({ ok: true, message: expect.stringContaining('not paired') });
  const linkDatabase = openLinkDatabase(data, () => 0);
  const json = JSON.stringify({ account: {}, me: { id: '491511234567:3@s.whatsapp.net' } });
  linkDatabase.database.prepare('INSERT INTO credentials (id, json) VALUES (1, ?)').run(json);
  expect(await said()).toMatchObject({ ok: true, message: 'paired' });
  linkDatabase.database.exec('UPDATE credentials SET is_removed = 1');
  linkDatabase.close();
  expect(await said()).toMatchObject({
    ok: false,
    advice: '`claw setup whatsapp` pairs it again.',
  });
  const again = openLinkDatabase(data, () => 0);
  again.database.exec('UPDATE credentials SET is_removed = 0');
  again.close();
  expect(await said()).toMatchObject({ ok: true, message: 'paired with +491511234567' });
});

test('of a link in use, the log of the running assistant tells', async () => {
  const linkDatabase = openLinkDatabase(data, () => 0);
  const lock = resolve(import.meta.dirname, '../supervisor/instance-lock.ts');
  const script = `import { lockInstance } from ${JSON.stringify(lock)};
    const lock = lockInstance(${JSON.stringify(data)}, process.pid);
    console.log(lock.kind);
    setInterval(() => lock.kind, 1000);`;
  writeFileSync(join(folder, 'holder.ts'), script);
  const holder = spawn(process.execPath, [join(folder, 'holder.ts')]);
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  const say = (state: string, detail: string | null) => {
    const line = JSON.stringify({
      level: 30,
      time: 1,
      channel: 'whatsapp',
      state,
      detail,
      msg: '',
    });
    mkdirSync(join(data, 'logs'), { recursive: true, mode: 0o700 });
    writeFileSync(join(data, 'logs/assistant-2026-11-21.log'), `${line}\n{"half`, { mode: 0o600 });
  };
  expect(await found('assistant')).toMatchObject([{ message: `runs, process ${holder.pid}` }]);
  say('connected', null);
  expect(await found('whatsapp')).toMatchObject([
    { ok: true, advice: null, message: expect.stringMatching(/^paired, connected since 1970/) },
  ]);
  say('unpaired', 'The phone has removed this device.');
  expect(await found('whatsapp')).toMatchObject([
    { ok: false, message: expect.stringMatching(/^paired, but unpaired since .* removed/) },
  ]);
  linkDatabase.close();
});

test('a model whose price is not known is limited by tokens alone', async () => {
  expect(await found('budgets')).toMatchObject([{ ok: true, advice: null }]);
  const env = { MODEL: 'openai/llama3' };
  expect(await found('budgets', { env })).toMatchObject([
    { ok: true, advice: expect.stringContaining('MODEL_PRICE') },
  ]);
  for (const more of [{ MODEL_PRICE: '3/15' }, { BUDGET_TOKENS: '1000000' }]) {
    expect(await found('budgets', { env: { ...env, ...more } })).toMatchObject([{ advice: null }]);
  }
});

test('a list of mounts with a mistake in it is named', async () => {
  const path = join(folder, 'mounts.yaml');
  const env = { CLAW_MOUNTS: path };
  expect(await found('mounts', { env })).toEqual([]);
  writeFileSync(path, 'mounts: [{path: relative, groups: [main]}]\n', { mode: 0o600 });
  expect(await found('mounts', { env })).toMatchObject([
    { ok: false, message: expect.stringContaining('must begin with /') },
  ]);
});

test('an examination that breaks is a finding, one that cannot be loaded as well', async () => {
  const own = join(folder, 'examinations');
  mkdirSync(own);
  const write = (name: string, text: string) => writeFileSync(join(own, name), text);
  write(
    'a.ts',
    "export const examination = { area: 'a', order: 1, examine: () => Promise.reject(new Error('no luck')) };",
  );
  const subject = {
    projectDir: folder,
    dataDir: data,
    homeDir: '/nowhere',
    environment: {},
    settings: null,
    isOffline: true,
    now: Date.now,
  };
  expect(await examineAssistant(subject, own)).toMatchObject([
    { area: 'a', ok: false, message: 'no luck' },
  ]);
  write('b.ts', "throw new Error('broken file');");
  expect(await examineAssistant(subject, own)).toMatchObject([
    { ok: false, message: expect.stringContaining('broken file') },
  ]);
});

test('the whole command: a running assistant, its channel, no secret', async () => {
  const server = await startAnthropicServer(() => OK);
  using tree = new TestTree();
  const environment = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: TEST_KEY };
  await using conversation = TestConversation.start(tree, environment);
  await conversation.sees('> ');
  conversation.write('/sandbox\n');
  await conversation.sees('Now: bubblewrap');
  const child = spawn(process.execPath, [join(tree.dir, 'bin/claw.js'), 'doctor'], {
    cwd: tree.dir,
    env: { ...environmentOf(tree), ...environment },
  });
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (out += text));
  const [code] = await once(child, 'close');
  await server.close();
  expect(out).toMatch(new RegExp(`assistant +runs, process ${conversation.child.pid}`));
  expect(out).toMatch(/model +anthropic\/claude-sonnet-4-5 answered in/);
  expect(out).toMatch(/containers +agents run in bubblewrap/);
  expect(out).toMatch(/database +.* whole/);
  expect(out).toMatch(/services +scheduler is running since/);
  expect(out).toMatch(/\nAll is well/);
  expect(code).toBe(0);
  expect(out).not.toContain(TEST_KEY);
  // Another codebase has no assistant.
  const other = spawnSync(
    process.execPath,
    [join(tree.dir, 'bin/claw.js'), 'doctor', '--cwd', folder],
    {
      encoding: 'utf8',
      env: environmentOf(tree),
    },
  );
  expect(other.stdout).toContain('node');
  expect(other.stdout).not.toContain('whatsapp');
});

test('Docker is looked for where the environment says, and nowhere else', async () => {
  const env = { CLAW_SANDBOX: 'docker', DOCKER_HOST: 'unix:///nowhere/docker.sock' };
  const [engine] = await found('containers', { env });
  expect(engine).toMatchObject({
    ok: false,
    message: expect.stringContaining('no daemon answers'),
  });
});

test('a service that failed is named, and the way to the pages, while the assistant runs', async () => {
  const store = openStore({ path: join(data, 'claw.db'), now: 1 });
  onTestFinished(() => store.close());
  store.services.note({ name: 'hook', state: 'failed', reason: 'no luck', since: 1 });
  expect(await found('services')).toEqual([]);
  const setTimer = () => () => {};
  const http = openLoopback({ dataDir: data, setTimer, log: { info() {}, error() {} } });
  await http.route('hook', { method: 'GET', path: '/', handle: () => ({}) });
  expect(await found('http')).toEqual([]);
  const holder = spawn(process.execPath, ['-e', HOLD_LOCK, REPOSITORY, data]);
  onTestFinished(() => void holder.kill());
  await once(holder.stdout, 'data');
  expect(await found('services')).toMatchObject([
    { ok: false, message: expect.stringMatching(/^hook failed at 1970-.*: no luck$/) },
  ]);
  const advice = expect.stringContaining(`${http.address()}/?token= and then what is in ${data}`);
  expect(await found('http')).toMatchObject([{ ok: true, advice }]);
  await http.close();
  // The file still says where it was.
  expect(await found('http')).toEqual([]);
});

await describeWithEngine('bubblewrap', 'the doctor where Docker was lost', () => {
  test('tells what runs agents now, and what they wait for', async () => {
    const store = openStore({ path: join(data, 'claw.db'), now: 1 });
    onTestFinished(() => store.close());
    store.engines.note({ kind: 'ready', engine: 'docker', description: 'docker 28.2' });
    const env = { CLAW_SANDBOX: '', DOCKER_HOST: 'unix:///nowhere/docker.sock' };
    const engine = async () => (await found('containers', { env }))[0];
    expect(await engine()).toMatchObject({
      ok: false,
      message: expect.stringContaining(
        'Agents ran in docker and do not run in bubblewrap unasked.',
      ),
      advice: expect.stringContaining('/sandbox bubblewrap'),
    });
    const holder = spawn(process.execPath, ['-e', HOLD_LOCK, REPOSITORY, data]);
    onTestFinished(() => void holder.kill());
    await once(holder.stdout, 'data');
    expect(await engine()).toMatchObject({
      ok: false,
      message: 'Agents run in docker, and no daemon answers.',
    });
    store.engines.note({ kind: 'unavailable', advice: 'Say which.' });
    expect(await engine()).toMatchObject({ ok: false, advice: 'Say which.' });
    store.engines.note({ kind: 'ready', engine: 'bubblewrap', description: 'bubblewrap 0.8.0' });
    store.engines.accept('bubblewrap');
    expect((await engine())?.message).toBe('agents run in bubblewrap 0.8.0');
  });
});

await describeWithEngine('docker', 'the doctor with Docker', () => {
  test('names engine, image, and what a killed assistant left', async () => {
    const env = { CLAW_SANDBOX: 'docker' };
    const [engine, none] = await found('containers', { env });
    expect(engine?.message).toMatch(/^agents run in docker \d/);
    expect(none).toBe(undefined);
    expect(await found('image', { env })).toMatchObject([{ ok: true }]);
    const docker = new Docker();
    const [image] = await docker.listImages({ filters: { reference: ['patchclaw-base'] } });
    const container = await docker.createContainer({
      Image: image?.Id ?? 'node:24-slim',
      Cmd: ['true'],
      Labels: { 'patchclaw.instance': shortHash(data) },
    });
    onTestFinished(() => container.remove({ force: true }).catch(() => {}));
    expect(await found('containers', { env })).toMatchObject([
      { ok: true },
      {
        message: '1 container is left of an assistant that was killed',
        advice: expect.stringContaining(`docker rm -f ${container.id.slice(0, 12)}`),
      },
    ]);
  });
});
