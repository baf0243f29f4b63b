import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import {
  environmentOf,
  TestConversation,
  TestTree,
} from '../../testing/claw/supervised-project.ts';
import { pipedConsole } from '../console/piped-console.ts';
import { readEnvironment } from '../environment.ts';
import { openSupervisor } from '../supervisor.ts';
import { DEFAULT_TIMING } from '../timing.ts';

const run = promisify(execFile);

test('an assistant that hangs is started again and answers', async () => {
  using tree = new TestTree();
  const input = new PassThrough();
  const output = new PassThrough();
  const errors = new PassThrough();
  let said = '';
  for (const stream of [output, errors]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const pids: unknown[] = [];
  const log = {
    debug() {},
    info: (_message: string, data?: Readonly<Record<string, unknown>>) => pids.push(data?.['pid']),
    warn() {},
    error() {},
  };
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
    timing: { ...DEFAULT_TIMING, livenessMs: 5_000 },
    firstChecks: { startLater() {}, stop() {} },
  });
  const ended = supervisor.run();
  await isHealthy(tree);
  // Its answer to this second question shows that it does not hang.
  input.write('/help\n');
  await vi.waitFor(() => expect(said).toContain('- **The assistant**: '));
  process.kill(Number(pids[0]), 'SIGSTOP');
  input.end('/groups\n');
  expect(await ended).toBe(0);
  expect(said).toContain('The assistant did not answer any more. Starting it again.');
  expect(said).toContain('Registered:');
});

test('a terminal that is closed ends what runs in it', async () => {
  using tree = new TestTree();
  await using conversation = TestConversation.start(tree);
  await isHealthy(tree);
  conversation.child.kill('SIGHUP');
  expect(await conversation.end()).toBe(0);
});

test('a service goes on: nobody would start it again', async () => {
  using tree = new TestTree();
  const command = [process.execPath, 'src/supervisor/entry.js', '--service'];
  await using conversation = new TestConversation(tree, command);
  await isHealthy(tree);
  conversation.child.kill('SIGHUP');
  const options = { cwd: tree.dir, env: environmentOf(tree) };
  const chat = await run(process.execPath, ['bin/claw.js', 'chat', '/groups'], options);
  expect(chat.stdout).toContain('Registered:');
  const { exitCode, signalCode } = conversation.child;
  expect({ exitCode, signalCode }).toEqual({ exitCode: null, signalCode: null });
});

async function isHealthy({ dataDir }: TestTree): Promise<void> {
  const path = join(dataDir, 'last-healthy.json');
  await vi.waitFor(() => expect(readFileSync(path, 'utf8')).not.toBe(''));
}
