import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { compositionOf } from '../../lib/composition.ts';
import { readEnvironment, secretValues, withoutSecrets } from '../environment.ts';
import { lockInstance } from '../instance-lock.ts';
import { dailyFile, dayOf, openLog } from '../log/log.ts';
import { closePrivate, findExposed } from '../private-data.ts';
import { lastHealthyOf } from '../rollback/last-healthy.ts';
import { countCrashes } from '../supervisor.ts';
import { DEFAULT_TIMING, healthyLimit } from '../timing.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'claw-supervisor-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the environment wins over .env, which may be missing', () => {
  expect(readEnvironment(folder, { A: '1' })).toEqual({ A: '1' });
  writeFileSync(join(folder, '.env'), 'A=2\nB="two words"\n# C=3\n');
  expect(readEnvironment(folder, { A: '1' })).toEqual({ A: '1', B: 'two words' });
});

test('programs without business with keys get none', () => {
  const environment = { PATH: '/bin', ANTHROPIC_API_KEY: 'sk-123456', SLACK_BOT_TOKEN: 'xoxb-1' };
  expect(withoutSecrets(environment)).toEqual({ PATH: '/bin' });
  expect(secretValues({ ...environment, PROXY: 'http://me:let%20me%20in@proxy' })).toEqual([
    'sk-123456',
    'xoxb-1',
    'let me in',
  ]);
});

test('a key never gets into the log file, in no form and also when it is read later', async () => {
  const secrets = new Set(['sk-123456']);
  const stderr = new PassThrough();
  const log = await openLog({ ...logOptions(), isStderrLog: true, stderr, secrets });
  log.info('calling with sk-123456', { header: 'Bearer sk-123456' });
  log.debug('not wanted');
  const text = readFileSync(join(folder, 'logs/test-2026-11-21.log'), 'utf8');
  expect(text).toContain('calling with [secret]');
  expect(text).toContain('Bearer [secret]');
  expect(text).not.toContain('sk-123456');
  expect(text).not.toContain('not wanted');
  expect(String(stderr.read())).toBe(text);
  expect(statSync(join(folder, 'logs/test-2026-11-21.log')).mode & 0o777).toBe(0o600);

  const odd = 'p"a\\s§s/wörd+1';
  secrets.add(odd);
  const forms = [
    odd,
    JSON.stringify({ key: odd }),
    JSON.stringify(JSON.stringify({ key: odd })),
    encodeURIComponent(odd),
    ...['', 'u:', 'us:', 'use:'].map((user) => Buffer.from(`${user}${odd}!`).toString('base64')),
    Buffer.from(`u:${odd}`).toString('base64url'),
  ];
  for (const form of forms) log.warn('a request failed', { form });
  const later = String(stderr.read()).trimEnd().split('\n');
  expect(later).toHaveLength(forms.length);
  for (const line of later) expect(JSON.parse(line).form).toContain('[secret]');
});

test('a log has a file a day, and those of two weeks ago go', async () => {
  let now = new Date(2026, 10, 21, 23, 59, 59).getTime();
  mkdirSync(join(folder, 'logs'));
  const older = ['test-2026-11-07.log', 'test-2026-11-08.log', 'other-2026-01-01.log', 'test.log'];
  for (const name of older) writeFileSync(join(folder, 'logs', name), '');
  const today = join(folder, 'logs/test-2026-11-21.log');
  writeFileSync(today, '{"msg":"cut sh');
  const stderr = new PassThrough();
  const options = { ...logOptions(), isStderrLog: true, stderr, secrets: new Set<string>() };
  const log = await openLog({ ...options, now: () => now });
  log.info('late');
  now += 1_000;
  log.info('early');
  const files = readdirSync(join(folder, 'logs')).toSorted();
  expect(files).toEqual([
    'other-2026-01-01.log',
    'test-2026-11-21.log',
    'test-2026-11-22.log',
    'test.log',
  ]);
  expect(readFileSync(today, 'utf8')).toMatch(/^\{"msg":"cut sh\n\{.*"msg":"late"\}\n$/);
  rmSync(join(folder, 'logs'), { recursive: true });
  writeFileSync(join(folder, 'logs'), '');
  now += 86_400_000;
  expect(() => log.info('to nowhere')).not.toThrow();
});

test('a file of a day does not grow for ever', () => {
  const file = dailyFile({ folder, name: 'test', now: () => 0, maxBytes: 20 });
  for (let n = 0; n < 10; n += 1) file.write('{"msg":"again"}\n');
  const text = readFileSync(join(folder, `test-${dayOf(0)}.log`), 'utf8');
  expect(text.trimEnd().split('\n')).toHaveLength(3);
  expect(text).toContain('this file is full');
});

test('on a terminal the log is readable, and shows warnings only', async () => {
  const stderr = new PassThrough();
  const log = await openLog({ ...logOptions(), isStderrLog: false, stderr, secrets: new Set() });
  log.info('all is well');
  log.warn('something is not');
  const [line] = await once(stderr, 'data');
  expect(stripVTControlCharacters(String(line))).toMatch(/WARN.*something is not/);
});

function logOptions() {
  const now = () => new Date(2026, 10, 21, 12).getTime();
  return { name: 'test', dataDir: folder, level: 'info', now } as const;
}

test('a second assistant on a data folder is refused until the first one has died', async () => {
  const lockPath = pathToFileURL(join(import.meta.dirname, '../instance-lock.ts')).href;
  const script = `import { lockInstance } from ${JSON.stringify(lockPath)};
    const lock = lockInstance(${JSON.stringify(folder)}, process.pid);
    console.log(lock.kind);
    setInterval(() => lock.kind, 1000);`;
  const path = join(folder, 'holder.ts');
  writeFileSync(path, script);
  const holder = spawn(process.execPath, [path], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void holder.kill('SIGKILL'));
  const [said] = await once(holder.stdout, 'data');
  expect(String(said).trim()).toBe('held');
  expect(lockInstance(folder, process.pid)).toEqual({
    kind: 'refused',
    isRunning: true,
    message: `The assistant already runs on ${folder} (pid ${holder.pid}). End that one first, or set CLAW_DATA to another folder.`,
  });
  holder.kill('SIGKILL');
  await once(holder, 'close');
  const mine = lockInstance(folder, process.pid);
  expect(mine.kind).toBe('held');
  if (mine.kind === 'held') mine.release();
});

test('only a composition published after a healthy one can be taken back', () => {
  const healthy = lastHealthyOf(join(folder, 'data'));
  const core = compositionOf(folder);
  expect(healthy.isPublishedSince(core)).toBe(false);
  healthy.record(core, 900);
  expect(healthy.isPublishedSince(core)).toBe(false);
  mkdirSync(join(folder, '.claw'));
  writeFileSync(join(folder, '.claw/state.yaml'), 'layers: [a]\n');
  const withA = compositionOf(folder);
  expect(healthy.isPublishedSince(withA)).toBe(true);
  expect(lastHealthyOf(join(folder, 'data')).isPublishedSince(withA)).toBe(true);
  healthy.record(core, 900);
  expect(healthy.isPublishedSince(withA)).toBe(true);
  healthy.record(withA, 900);
  expect(healthy.isPublishedSince(withA)).toBe(false);
});

test('if starts are slow, a published tree has more time to start', () => {
  const timing = { ...DEFAULT_TIMING, healthyMs: 30_000 };
  const healthy = lastHealthyOf(join(folder, 'data'));
  expect(healthyLimit(timing, healthy.startMs())).toBe(30_000);
  healthy.record('core', 20_000);
  healthy.record('core', 1_000);
  expect(healthyLimit(timing, lastHealthyOf(join(folder, 'data')).startMs())).toBe(100_000);
  // What was taken back is not started for it.
  healthy.record('one before', 0);
  expect(healthy.startMs()).toBe(20_000);
  healthy.record('faster', 2_000);
  expect(healthyLimit(timing, healthy.startMs())).toBe(30_000);
});

test('a clock that was set during a start, or a long sleep, gives the next tree ten minutes at most', () => {
  const healthy = lastHealthyOf(join(folder, 'data'));
  // From 1970 to the present; longer than a timer can wait, which then would not wait at all.
  healthy.record('core', 1.7e12);
  expect(healthyLimit(DEFAULT_TIMING, healthy.startMs())).toBe(600_000);
});

test('if the note about a healthy tree cannot be written, it is kept in memory and does no harm', () => {
  mkdirSync(join(folder, 'data/last-healthy.json.new'), { recursive: true });
  const healthy = lastHealthyOf(join(folder, 'data'));
  healthy.record('core', 900);
  expect(healthy.isPublishedSince('core')).toBe(false);
  expect(healthy.isPublishedSince('other')).toBe(true);
});

test('a data folder that cannot be used is refused with what to do', () => {
  const path = join(folder, 'data');
  writeFileSync(path, '');
  expect(lockInstance(path, process.pid)).toEqual({
    kind: 'refused',
    isRunning: false,
    message: expect.stringMatching(/^The data folder .* cannot be used: EEXIST.* set CLAW_DATA/),
  });
});

test('the fifth crash within a minute is the last, and slow ones never are', () => {
  const quick = countCrashes(100);
  expect([0, 1, 2, 3, 4].map((time) => quick.next(time))).toEqual([100, 200, 400, 800, null]);
  const slow = countCrashes(100);
  expect([0, 1, 2, 3, 4].map((time) => slow.next(time * 61_000))).toEqual([
    100, 100, 100, 100, 100,
  ]);
  // Set back each time by more than there was between them.
  const turnedBack = countCrashes(100);
  expect([0, 1, 2, 3, 4].map((time) => turnedBack.next(-time * 61_000))).toEqual([
    100, 100, 100, 100, 100,
  ]);
});

test('data and memories are closed to others, with what an earlier version left open', () => {
  const data = join(folder, 'data');
  const places = { projectDir: folder, dataDir: data };
  mkdirSync(join(folder, 'groups/main'), { recursive: true, mode: 0o755 });
  // What any channel keeps is private, the core's and a skill's.
  const kept = ['signal/keys.db', 'whatsapp/link.db'];
  const open = ['claw.db', 'claw.db-wal', 'logs/a.log', ...kept, 'cache/agent.mjs'];
  for (const path of open) {
    mkdirSync(join(data, dirname(path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(data, path), '', { mode: 0o644 });
  }
  mkdirSync(join(data, 'sessions/main'), { recursive: true, mode: 0o755 });
  symlinkSync(join(data, 'cache/agent.mjs'), join(data, 'link'));
  expect(findExposed(places).map(({ path, mode }) => [relative(data, path), mode])).toEqual([
    ['', 0o755],
    ['logs', 0o755],
    ['signal', 0o755],
    ['whatsapp', 0o755],
    ['sessions', 0o755],
    ['../groups', 0o755],
    ['claw.db', 0o644],
    ['claw.db-wal', 0o644],
    ['logs/a.log', 0o644],
    ['signal/keys.db', 0o644],
    ['whatsapp/link.db', 0o644],
  ]);
  closePrivate(places);
  expect(findExposed(places)).toEqual([]);
  // An agent of another user reads it through its mount.
  expect(statSync(join(data, 'cache/agent.mjs')).mode & 0o777).toBe(0o644);
});
