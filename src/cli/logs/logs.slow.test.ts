import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { parseSince } from './arguments.ts';

const CLAW = resolve(import.meta.dirname, '../../../bin/claw.js');
const DAY = 86_400_000;

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'claw-logs-')));
  writeFileSync(join(root, 'claw.config.yaml'), 'check: []\n');
  mkdirSync(join(root, 'data/logs'), { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function logFile(name: string, time: number): string {
  return join(root, 'data/logs', `${name}-${new Date(time).toLocaleDateString('sv')}.log`);
}

function line(msg: string, fields: Readonly<Record<string, unknown>> = {}): string {
  return `${JSON.stringify({ level: 30, time: Date.now(), ...fields, msg })}\n`;
}

function write(name: string, ...texts: readonly string[]): void {
  appendFileSync(logFile(name, Date.now()), texts.join(''));
}

function logs(...args: readonly string[]) {
  const run = spawnSync(process.execPath, [CLAW, 'logs', '--cwd', root, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  return { code: run.status, out: run.stdout, err: run.stderr };
}

function messages(out: string): readonly string[] {
  return out
    .trimEnd()
    .split('\n')
    .map((text) => text.replace(/^\[[\d:]+\] [A-Z]+: /, ''));
}

test('the logs of all processes and days are one, filtered by group, level, time and number', () => {
  const yesterday = Date.now() - DAY;
  writeFileSync(logFile('assistant', yesterday), line('an old one', { time: yesterday }));
  const now = Date.now();
  write('supervisor', line('the assistant was started', { time: now - 9_000 }));
  write(
    'assistant',
    line('a turn ended', { time: now - 8_000, group: 'family', turn: 7, error: null }),
    'not json at all\n',
    line('slow', { time: now - 7_000, level: 40, group: 'book-circle' }),
  );
  write('supervisor', line('restarted', { time: now - 7_500 }), '{"level":30,"msg":"half a li');
  const { out } = logs();
  const [heading, ...rest] = messages(out);
  expect(heading).toBe(new Date(yesterday).toLocaleDateString('sv'));
  expect(rest).toEqual([
    'an old one',
    new Date().toLocaleDateString('sv'),
    'the assistant was started',
    '[family] a turn ended {"turn":7}',
    'not json at all',
    'restarted',
    '[book-circle] slow',
  ]);
  expect(out).not.toContain('\u001b');
  expect(messages(logs('family').out)).toEqual(['[family] a turn ended {"turn":7}']);
  expect(messages(logs('--level', 'warn').out)).toEqual(['not json at all', '[book-circle] slow']);
  expect(messages(logs('-n', '1').out)).toEqual(['[book-circle] slow']);
  expect(messages(logs('--since', '1h').out)).not.toContain('an old one');
  const raw = logs('family', '--json').out;
  expect(JSON.parse(raw)).toMatchObject({ msg: 'a turn ended', turn: 7 });
});

test('if no log can be shown, the command says why; wrong options are wrong use', () => {
  expect(logs()).toMatchObject({ code: 0, out: '', err: expect.stringContaining('data/logs') });
  write('assistant', line('a turn started', { group: 'family' }));
  expect(logs('famly')).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining(
      'No line concerns a group "famly". There are lines of: family. `npx claw groups` lists the groups.',
    ),
  });
  expect(logs('--since', 'once')).toMatchObject({ code: 2 });
  expect(logs('--level', 'loud')).toMatchObject({ code: 2 });
});

test('following goes on across midnight, waits for whole lines, and ends well', async () => {
  write('assistant', line('before', { group: 'family' }), '{"level":30,');
  const child = spawn(process.execPath, [CLAW, 'logs', 'family', '-f', '--json', '--cwd', root]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const seen = collected(child);
  await vi.waitFor(() => expect(seen()).toEqual(['before']));
  write('assistant', '"group":"family","msg":"whole"}\n', line('not theirs', { group: 'main' }));
  const tomorrow = logFile('assistant', Date.now() + DAY);
  appendFileSync(tomorrow, line('next day', { time: Date.now() + DAY, group: 'family' }));
  await vi.waitFor(() => expect(seen()).toEqual(['before', 'whole', 'next day']));
  child.kill('SIGINT');
  expect(await once(child, 'close')).toEqual([0, null]);
});

test('a reader who has seen enough is no error', async () => {
  write(
    'assistant',
    ...Array.from({ length: 3_000 }, (_, n) => line(`line ${n} ${'.'.repeat(99)}`)),
  );
  const command = `"$0" "$1" logs -n 3000 -f --cwd "$2" | head -1; echo "\${PIPESTATUS[0]}"`;
  const shell = spawn('bash', ['-c', command, process.execPath, CLAW, root]);
  // Listened for from the beginning: it may end before the test comes to wait for it.
  const closed = once(shell, 'close');
  onTestFinished(() => void shell.kill('SIGKILL'));
  let out = '';
  shell.stdout.on('data', (text) => {
    out += text;
  });
  let err = '';
  shell.stderr.on('data', (text) => {
    err += text;
  });
  await vi.waitFor(() => expect(out).toContain('line 0'));
  // The pipe is found broken with the next line.
  write('assistant', line('one more'));
  await closed;
  expect(out.trimEnd().split('\n').at(-1)).toBe('0');
  expect(err).toBe('');
});

test('a time is said as a span, an hour of today or a date', () => {
  const now = new Date(2026, 10, 21, 12, 0).getTime();
  expect(parseSince('90s', now)).toBe(now - 90_000);
  expect(parseSince('2d', now)).toBe(now - 2 * DAY);
  expect(parseSince('9:30', now)).toBe(new Date(2026, 10, 21, 9, 30).getTime());
  expect(parseSince('2026-11-20', now)).toBe(new Date(2026, 10, 20).getTime());
  expect(parseSince('2026-11-20 08:15', now)).toBe(new Date(2026, 10, 20, 8, 15).getTime());
  for (const wrong of ['25:00', 'yesterday', '1', '2026-13-45']) {
    expect(parseSince(wrong, now)).toBe(null);
  }
});

function collected(child: ChildProcess): () => readonly string[] {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  return () =>
    text
      .split('\n')
      .filter((raw) => raw !== '')
      .map((raw) => (JSON.parse(raw) as { msg: string }).msg);
}
