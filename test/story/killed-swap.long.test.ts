import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { journalText } from '../../packages/claw/src/transaction/recover.js';
import { Assistant } from './assistant.ts';
import { type Clone, cloneWithoutProof, copyClone, runClaw, runThere } from './clone.ts';

const isSkipped =
  spawnSync('strace', ['--version']).status !== 0 && process.env['CLAW_REQUIRE_ENGINE'] !== '1';
const title = 'claw apply, killed between the two renames that swap node_modules';

describe.skipIf(isSkipped)(isSkipped ? `${title} (strace is missing)` : title, () => {
  let clone: Clone;
  let copy: Clone;

  beforeAll(async () => {
    clone = cloneWithoutProof();
    await killInSwap(clone);
    copy = copyClone(clone);
    sealJournal(copy);
  });

  afterAll(async () => {
    await clone?.[Symbol.asyncDispose]();
    await copy?.[Symbol.asyncDispose]();
  });

  test('is finished by the next claw status, on the Node of the system', async () => {
    expect(clone.has('node_modules')).toBe(false);
    const run = await runClaw(clone.root, 'node', ['status']);
    expect(run).toMatchObject({
      code: 0,
      json: { outcome: 'done', data: { layers: [{ name: 'telegram' }], edits: [] } },
    });
    await expectTelegram(clone);
  });

  test('is finished by scripts/prepare.js too, and the assistant starts', async () => {
    expect(copy.has('node_modules')).toBe(false);
    const run = await runThere(copy.root, ['node', 'scripts/prepare.js']);
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toMatch(/^(Checking the types once, [^\n]*\n)?$/);
    await expectTelegram(copy);
    expect(copy.code()).toEqual(clone.code());
    await using assistant = await Assistant.start(copy, 'npm');
    expect(await assistant.ask('/status')).toMatch(/code: release and telegram \d/);
    expect(await assistant.end()).toBe(0);
  });
});

/**
 * strace holds the process still for a while when the first of the two renames is done, which is
 * when it is killed: with the old packages gone, and the new ones not there yet.
 */
async function killInSwap({ root, nodePath, path }: Clone): Promise<void> {
  const renames = 'rename,renameat,renameat2';
  const pidFile = `${root}.pid`;
  const ended = runThere(root, [
    'strace',
    ...['-f', '--seccomp-bpf'],
    ...['-P', path('node_modules'), '-e', `trace=${renames}`],
    ...['-e', `inject=${renames}:delay_exit=20s`, '-o', '/dev/null'],
    ...['sh', '-c', 'echo $$ > "$0"; exec "$@"', pidFile],
    ...[nodePath, 'bin/claw.js', 'apply', 'telegram', '--json'],
  ]);
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  while (!isOver && existsSync(path('node_modules'))) await delay(20);
  if (!isOver) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
  const { code, stdout } = await ended;
  rmSync(pidFile);
  // strace ends as the program that it ran has ended, so without a code.
  expect({ code, stdout }).toEqual({ code: null, stdout: '' });
}

/** Makes the journal of a copied folder count as one that was written there. */
function sealJournal({ root, path }: Clone): void {
  for (const id of readdirSync(path('.claw/tx'))) {
    const journal = path(`.claw/tx/${id}/journal.json`);
    if (!existsSync(journal)) continue;
    const [json = ''] = readFileSync(journal, 'utf8').split('\n');
    writeFileSync(journal, journalText(root, JSON.parse(json)));
  }
}

/** The tree is exactly what apply would have left, and its packages are the ones of its lock. */
async function expectTelegram(clone: Clone): Promise<void> {
  expect((await clone.claw('verify')).json.data).toMatchObject({ clean: true });
  expect(clone.read('package-lock.json')).toBe(clone.read('.claw/package-lock.json'));
  expect(clone.has('node_modules/grammy/package.json')).toBe(true);
  const { packages } = JSON.parse(clone.read('node_modules/.package-lock.json'));
  expect(packages['node_modules/grammy'].version).toBe(
    JSON.parse(clone.read('package-lock.json')).packages['node_modules/grammy'].version,
  );
}
