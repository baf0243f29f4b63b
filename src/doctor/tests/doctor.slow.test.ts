import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examinedProject } from '../../testing/claw/examined-project.ts';
import {
  environmentOf,
  TestConversation,
  TestTree,
} from '../../testing/claw/supervised-project.ts';
import { type AnthropicReply, startAnthropicServer } from '../../testing/model/anthropic.ts';
import { TEST_KEY } from '../../testing/sandbox-project.ts';
import { discoverExaminations, examineAssistant } from '../examination.ts';

const OK: AnthropicReply = [{ type: 'text', text: 'ok' }];

const project = examinedProject();

test('settings that do not parse are named, and all else is looked at', async () => {
  expect(await project.found('settings', { env: { MODEL: 'gpt' } })).toMatchObject([
    { ok: false, message: expect.stringMatching(/^MODEL in the environment/) },
  ]);
  expect(await project.found('database', { env: { MODEL: 'gpt' } })).toMatchObject([{ ok: true }]);
  writeFileSync(join(project.folder, '.env'), '', { mode: 0o644 });
  expect(await project.found('settings')).toMatchObject([
    { ok: true, advice: null },
    { ok: true, advice: `chmod 600 ${project.folder}/.env` },
  ]);
});

test('a file that others could read is named with the command that closes it', async () => {
  writeFileSync(join(project.data, 'claw.db-wal'), '', { mode: 0o644 });
  chmodSync(project.data, 0o755);
  expect(await project.found('data')).toMatchObject([
    { ok: true, message: expect.stringMatching(/^\d+ \w+ in .*, .* free$/) },
    {
      ok: true,
      advice: expect.stringContaining(
        `chmod 700 ${project.data}; chmod 600 ${project.data}/claw.db-wal`,
      ),
    },
  ]);
});

test('an examination that breaks is a finding, one that cannot be loaded as well', async () => {
  const own = join(project.folder, 'examinations');
  mkdirSync(own);
  const write = (name: string, text: string) => writeFileSync(join(own, name), text);
  write(
    'a.ts',
    "export const examination = { area: 'a', order: 1, examine: () => Promise.reject(new Error('no luck')) };",
  );
  const subject = {
    projectDir: project.folder,
    dataDir: project.data,
    homeDir: '/nowhere',
    environment: {},
    settings: null,
    isOffline: true,
    now: Date.now,
  };
  expect(await examineAssistant(subject, discoverExaminations(own))).toMatchObject([
    { area: 'a', ok: false, message: 'no luck' },
  ]);
  write('b.ts', "throw new Error('broken file');");
  expect(await examineAssistant(subject, discoverExaminations(own))).toMatchObject([
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
  expect(out).toMatch(/model +anthropic\/claude-sonnet-5-5 answered in/);
  expect(out).toMatch(/containers +agents run in bubblewrap/);
  expect(out).toMatch(/database +.* whole/);
  expect(out).toMatch(/services +scheduler is running since/);
  expect(out).toMatch(/\nEverything works/);
  expect(code).toBe(0);
  expect(out).not.toContain(TEST_KEY);
  // Another codebase has no assistant.
  const other = spawnSync(
    process.execPath,
    [join(tree.dir, 'bin/claw.js'), 'doctor', '--cwd', project.folder],
    {
      encoding: 'utf8',
      env: environmentOf(tree),
    },
  );
  expect(other.stdout).toContain('node');
  expect(other.stdout).not.toContain('whatsapp');
});

test('a model whose price is not known is limited by tokens alone', async () => {
  expect(await project.found('budgets')).toMatchObject([{ ok: true, advice: null }]);
  const env = { MODEL: 'openai/llama3' };
  expect(await project.found('budgets', { env })).toMatchObject([
    { ok: true, advice: expect.stringContaining('MODEL_PRICE') },
  ]);
  for (const more of [{ MODEL_PRICE: '3/15' }, { BUDGET_TOKENS: '1000000' }]) {
    expect(await project.found('budgets', { env: { ...env, ...more } })).toMatchObject([
      { advice: null },
    ]);
  }
});

test('a list of mounts with a mistake in it is named', async () => {
  const path = join(project.folder, 'mounts.yaml');
  const env = { CLAW_MOUNTS: path };
  expect(await project.found('mounts', { env })).toEqual([]);
  writeFileSync(path, 'mounts: [{path: relative, groups: [main]}]\n', { mode: 0o600 });
  expect(await project.found('mounts', { env })).toMatchObject([
    { ok: false, message: expect.stringContaining('must begin with /') },
  ]);
});
