import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
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
import { countCrashes } from './crashes.ts';
import { readEnvironment, secretValues, withoutSecrets } from './environment.ts';
import { historyFile } from './history.ts';
import { lockInstance } from './instance-lock.ts';
import { lastHealthyOf } from './last-healthy.ts';
import { openLog } from './log.ts';
import { closeData, findExposed } from './private-data.ts';

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
  expect(secretValues(environment)).toEqual(['sk-123456', 'xoxb-1']);
});

test('a key never gets into the log file', async () => {
  const secrets = ['sk-123456'];
  const options = { name: 'test', dataDir: folder, level: 'info', isInteractive: false } as const;
  const stderr = new PassThrough();
  const log = await openLog({ ...options, stderr, secrets });
  log.info('calling with sk-123456', { header: 'Bearer sk-123456' });
  log.debug('not wanted');
  const text = readFileSync(join(folder, 'logs/test.log'), 'utf8');
  expect(text).toContain('calling with [secret]');
  expect(text).toContain('Bearer [secret]');
  expect(text).not.toContain('sk-123456');
  expect(text).not.toContain('not wanted');
  expect(String(stderr.read())).toBe(text);
});

test('on a terminal the log is readable, and shows warnings only', async () => {
  const stderr = new PassThrough();
  const options = { name: 'test', dataDir: folder, level: 'info', isInteractive: true } as const;
  const log = await openLog({ ...options, stderr, secrets: [] });
  log.info('all is well');
  log.warn('something is not');
  const [line] = await once(stderr, 'data');
  expect(stripVTControlCharacters(String(line))).toMatch(/WARN.*something is not/);
});

test('a second assistant on a data folder is refused until the first one has died', async () => {
  const lockPath = pathToFileURL(join(import.meta.dirname, 'instance-lock.ts')).href;
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
    message: `The assistant already runs on ${folder} (pid ${holder.pid}). End that one first, or set CLAW_DATA to another folder.`,
  });
  holder.kill('SIGKILL');
  await once(holder, 'close');
  const mine = lockInstance(folder, process.pid);
  expect(mine.kind).toBe('held');
  if (mine.kind === 'held') mine.release();
});

test('only a composition published after a healthy one can be taken back', () => {
  const healthy = lastHealthyOf(folder, join(folder, 'data'));
  expect(healthy.isPublishedSince()).toBe(false);
  healthy.record();
  expect(healthy.isPublishedSince()).toBe(false);
  mkdirSync(join(folder, '.claw'));
  writeFileSync(join(folder, '.claw/state.yaml'), 'layers: [a]\n');
  expect(healthy.isPublishedSince()).toBe(true);
  expect(lastHealthyOf(folder, join(folder, 'data')).isPublishedSince()).toBe(true);
  healthy.record();
  expect(healthy.isPublishedSince()).toBe(false);
});

test('the fifth crash within a minute is the last, and slow ones never are', () => {
  const quick = countCrashes(100);
  expect([0, 1, 2, 3, 4].map((time) => quick.next(time))).toEqual([100, 200, 400, 800, null]);
  const slow = countCrashes(100);
  expect([0, 1, 2, 3, 4].map((time) => slow.next(time * 61_000))).toEqual([
    100, 100, 100, 100, 100,
  ]);
});

test('the history is for its owner only', () => {
  const path = join(folder, 'history');
  const history = historyFile(path);
  expect(history.read()).toEqual([]);
  history.write(['newest', 'oldest']);
  expect(historyFile(path).read()).toEqual(['newest', 'oldest']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('the data folder is closed to others, with what an earlier version left open', () => {
  const data = join(folder, 'data');
  const open = ['claw.db', 'claw.db-wal', 'logs/a.log', 'whatsapp/link.db', 'cache/agent.mjs'];
  for (const path of open) {
    mkdirSync(join(data, dirname(path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(data, path), '', { mode: 0o644 });
  }
  mkdirSync(join(data, 'sessions/main'), { recursive: true, mode: 0o755 });
  symlinkSync(join(data, 'cache/agent.mjs'), join(data, 'link'));
  expect(findExposed(data).map(({ path, mode }) => [relative(data, path), mode])).toEqual([
    ['', 0o755],
    ['logs', 0o755],
    ['whatsapp', 0o755],
    ['sessions', 0o755],
    ['claw.db', 0o644],
    ['claw.db-wal', 0o644],
    ['logs/a.log', 0o644],
    ['whatsapp/link.db', 0o644],
  ]);
  closeData(data);
  expect(findExposed(data)).toEqual([]);
  // An agent of another user reads it through its mount.
  expect(statSync(join(data, 'cache/agent.mjs')).mode & 0o777).toBe(0o644);
});
