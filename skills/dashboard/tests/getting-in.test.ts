import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'uqr';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { setUpDashboard } from '../../../src/setup/dashboard.ts';
import type { SetupQuestion } from '../../../src/setup/step.ts';
import { serveDashboard } from './assistant.ts';

const FAR = 'https://nas.tail1234.ts.net';
let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'claw-getting-in-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Keeps what it serves in a file, as tailscaled does, and speaks the JSON of its commands. */
const TAILSCALE = `#!${process.execPath}
const fs = require('node:fs');
const state = __dirname + '/served.json';
const [verb, ...rest] = process.argv.slice(2);
fs.appendFileSync(__dirname + '/calls', process.argv.slice(2).join(' ') + '\\n');
const name = 'nas.tail1234.ts.net:443';
if (verb === 'status') console.log(JSON.stringify({ Version: '1.90.1', BackendState: process.env.TS_STATE ?? 'Running', Self: { DNSName: 'nas.tail1234.ts.net.' } }));
else if (rest[0] === 'status') console.log(fs.existsSync(state) ? fs.readFileSync(state, 'utf8') : '{}');
else if (rest[0] === '--bg') fs.writeFileSync(state, JSON.stringify({ TCP: { 443: { HTTPS: true } }, Web: { [name]: { Handlers: { '/': { Proxy: 'http://127.0.0.1:' + rest[1] } } } } }));
else process.exit(1);
`;

function tailscale(served?: string): string {
  const program = join(dataDir, 'tailscale');
  writeFileSync(program, TAILSCALE);
  chmodSync(program, 0o755);
  if (served !== undefined) {
    const Web = { 'nas.tail1234.ts.net:443': { Handlers: { '/': { Proxy: served } } } };
    writeFileSync(join(dataDir, 'served.json'), JSON.stringify({ Web }));
  }
  return program;
}

/** Runs the step with these answers; what it asked, said and wrote. */
async function setUp(program: string, answers: readonly string[], origins?: string) {
  const left = [...answers];
  const said: string[] = [];
  const written: Record<string, string> = {};
  const settings = origins === undefined ? {} : { PAGE_ORIGINS: origins };
  const outcome = await setUpDashboard(
    {
      dataDir,
      args: [],
      isInteractive: false,
      say: (text) => void said.push(text),
      async ask({ message, check }: SetupQuestion) {
        said.push(message);
        const answer = left.shift() ?? '';
        expect(await check(answer)).toBeNull();
        return answer;
      },
      write: (values) => void Object.assign(written, values),
      signal: new AbortController().signal,
      settings,
      settingsWith: () => settings,
    },
    program,
  );
  return { outcome, said: said.join('\n'), written };
}

function serveHere(): void {
  mkdirSync(join(dataDir, 'http'), { recursive: true });
  writeFileSync(join(dataDir, 'http/address'), 'http://127.0.0.1:45123\n');
}

const calls = () => readFileSync(join(dataDir, 'calls'), 'utf8');

test('after a yes Tailscale serves the page, beside the addresses that were there', async () => {
  serveHere();
  const { outcome, said, written } = await setUp(tailscale(), ['yes'], 'https://old.example.org');
  expect(said).toContain('as https://nas.tail1234.ts.net, by Tailscale');
  expect(written).toEqual({ PAGE_ORIGINS: `https://old.example.org,${FAR}` });
  expect(outcome.summary).toContain(`${FAR}/dashboard`);
  expect(calls()).toContain('serve --bg 45123\n');
});

test('after a no, and without Tailscale, a web server of the owner is described, and an empty answer changes nothing', async () => {
  serveHere();
  const program = tailscale();
  const declined = await setUp(program, ['no', 'https://dash.example.org']);
  expect(declined.written).toEqual({ PAGE_ORIGINS: 'https://dash.example.org' });
  expect(calls()).not.toContain('serve');
  const without = await setUp(join(dataDir, 'no-such-program'), ['']);
  expect(without.said).toContain('reverse_proxy 127.0.0.1:45123');
  expect(without.said).toContain('proxy_set_header Host $host;');
  expect(without.written).toEqual({});
  expect(without.outcome.needsRestart).toBe(false);
});

test('what Tailscale serves for another program stays, and a page that was never served is refused', async () => {
  await expect(setUp(tailscale(), ['yes'])).rejects.toThrow('Start the assistant once');
  serveHere();
  await expect(setUp(tailscale('http://127.0.0.1:8080'), ['yes'])).rejects.toThrow(
    'serves something else at https://nas.tail1234.ts.net already: http://127.0.0.1:8080',
  );
  expect(calls()).not.toContain('--bg');
  expect(existsSync(join(dataDir, 'served.json'))).toBe(true);
});

test('the chat gets the link for the phone as a code that a camera reads', async () => {
  await using served = await serveDashboard(undefined, FAR);
  await served.link();
  const text = served.terminal.sent.at(-1)?.text ?? '';
  const [link = ''] = /https:\/\/nas\S+/.exec(text) ?? [];
  expect(link).toMatch(/^https:\/\/nas\.tail1234\.ts\.net\/dashboard#[\w-]{43}$/);
  const [, drawn = ''] = /```\n(.*)\n```/s.exec(text) ?? [];
  // Each sign is two squares, one above the other.
  const HALVES: Readonly<Record<string, string>> = { ' ': '..', '▀': '#.', '▄': '.#', '█': '##' };
  const rows = drawn
    .split('\n')
    .flatMap((line) =>
      [0, 1].map((half) => [...line].map((sign) => HALVES[sign]?.[half]).join('')),
    );
  const squares = encode(link, { border: 2 }).data.map((row) =>
    row.map((isDark) => (isDark ? '#' : '.')).join(''),
  );
  const inverted = rows.map((row) => row.replace(/[#.]/g, (one) => (one === '#' ? '.' : '#')));
  expect(
    [rows, inverted].some((one) => one.slice(0, squares.length).join() === squares.join()),
  ).toBe(true);
});
