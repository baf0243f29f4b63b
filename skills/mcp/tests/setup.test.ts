import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { examination } from '../../../src/doctor/mcp.ts';
import { setup } from '../../../src/setup/mcp.ts';

let dataDir: string;
let server: Server;
let url: string;
let status = 200;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'claw-mcp-'));
  status = 200;
  server = createServer((_request, response) => response.writeHead(status).end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
});
afterEach(() => {
  server.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const said: string[] = [];
const run = async (...args: string[]) =>
  await setup.run(
    { FAR_KEY: 'k1' },
    {
      dataDir,
      args,
      isInteractive: false,
      say: (line) => void said.push(line),
      ask: () => Promise.reject(new Error('not asked')),
      write: () => {},
      signal: new AbortController().signal,
    },
  );
const listed = () => JSON.parse(readFileSync(join(dataDir, 'mcp/mcp.json'), 'utf8'));
const findings = async () =>
  (
    await examination.examine({
      projectDir: dataDir,
      dataDir,
      homeDir: dataDir,
      environment: { FAR_KEY: 'k1' },
      settings: null,
      isOffline: false,
      now: Date.now,
    })
  ).map(({ ok, message }) => `${ok ? 'ok' : 'problem'}: ${message}`);

test('a server at an address is added, tried, listed and removed; the rest of the file stays', async () => {
  expect(await findings()).toEqual(['ok: no server yet']);
  mkdirSync(join(dataDir, 'mcp'));
  writeFileSync(
    join(dataDir, 'mcp/mcp.json'),
    '{"note": "mine", "mcpServers": {"old": {"command": "true"}}}',
  );
  expect((await run('add', 'far', url, '--groups', 'main,family')).summary).toBe('far answers.');
  expect(listed()).toEqual({
    note: 'mine',
    mcpServers: { old: { command: 'true' }, far: { url, groups: ['main', 'family'] } },
  });
  expect(statSync(join(dataDir, 'mcp/mcp.json')).mode & 0o777).toBe(0o600);
  expect(await findings()).toEqual([
    'ok: old has its files; it starts with the assistant',
    'ok: far answers',
  ]);
  status = 401;
  expect((await run('test', 'far')).summary).toBe(
    'far wants you to log in: say `/mcp login far` in the chat.',
  );
  expect(await findings()).toContain('problem: far wants you to log in');
  status = 500;
  await expect(run('test', 'far')).rejects.toThrow('cannot be reached (it answered 500).');
  expect((await run('list')).data).toEqual({ servers: ['old', 'far'] });
  await run('remove', 'far');
  expect(Object.keys(listed().mcpServers)).toEqual(['old']);
  const gone = createServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const { port } = gone.address() as AddressInfo;
  await new Promise((resolve) => gone.close(resolve));
  await expect(run('add', 'gone', `http://127.0.0.1:${port}/mcp`)).rejects.toThrow(
    /cannot be reached \(ECONNREFUSED: nothing listens there; .*\)\.$/,
  );
});

test('a command is added with its words, for the owner alone and without a network', async () => {
  const { summary } = await run('add', 'notes', 'python3 "my server.py" --x');
  expect(listed().mcpServers.notes).toEqual({ command: 'python3', args: ['my server.py', '--x'] });
  expect(summary).toContain('no network (--network gives it that). Its tools are for main');
  await run('add', 'notes', 'node a.js', '--network');
  expect(listed().mcpServers.notes).toEqual({ command: 'node', args: ['a.js'], network: true });
});

test('wrong words, names and lists are refused, and nothing is changed', async () => {
  await expect(run('add', 'Far Away', url)).rejects.toThrow('needs a name of small letters');
  await expect(run('add', 'far', 'ftp://far.example')).resolves.toBeDefined();
  await expect(run('dance')).rejects.toMatchObject({ isWrongUse: true });
  await expect(run('test', 'nobody')).rejects.toThrow('There is no server nobody');
  await expect(run('add', 'a', '--loud', 'x')).rejects.toThrow("Unknown option '--loud'");
  writeFileSync(join(dataDir, 'mcp/mcp.json'), '{ "mcpServers": ');
  await expect(run('add', 'far', url)).rejects.toThrow('not valid JSON');
  expect(readFileSync(join(dataDir, 'mcp/mcp.json'), 'utf8')).toBe('{ "mcpServers": ');
  expect(await findings()).toEqual([
    expect.stringMatching(/^problem: mcp\.json is not valid JSON/),
  ]);
});

test('the doctor names a package that is not installed', async () => {
  mkdirSync(join(dataDir, 'mcp'));
  const config = { mcpServers: { far: { command: 'npx', args: ['-y', '@far/server'] } } };
  writeFileSync(join(dataDir, 'mcp/mcp.json'), JSON.stringify(config));
  expect(await findings()).toEqual([
    'problem: far: its package @far/server is not installed; `npx claw setup mcp install far` does that',
  ]);
});
