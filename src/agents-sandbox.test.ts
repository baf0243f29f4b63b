import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createAgentsSandbox } from './agents-sandbox.ts';
import { readSettings } from './config.ts';
import { discoverEngines } from './sandbox/engines/engine.ts';
import { openStore } from './store/store.ts';

const MINUTE_MS = 60_000;
const log = { info() {}, warn() {}, error() {} };

/** Starts a daemon with a base, without an image for agents, in which every build fails. */
async function startDaemon(socketPath: string) {
  const daemon = { builds: 0, close: () => {} };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://docker');
    const path = pathname.replace(/^\/v[\d.]+/, '');
    const says = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    request.resume();
    if (path === '/_ping') return says(200, 'OK');
    if (path === '/version') return says(200, { Version: '20.10.24' });
    if (path === '/info') return says(200, { SecurityOptions: [] });
    if (path === '/containers/json' || path === '/images/json') return says(200, []);
    if (path.startsWith('/images/patchclaw-base')) return says(200, { RootFS: { Layers: ['a'] } });
    if (path !== '/build') return says(404, { message: 'No such image' });
    daemon.builds += 1;
    // As a real one does, it has all files before it answers: they may be gone afterwards.
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        '{"stream":"npm error code ENOTFOUND\\n"}\n{"error":"returned a non-zero code: 1"}\n',
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  daemon.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return daemon;
}

test('a build that failed is tried again when its files change, after a while, and at the owner’s word', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-build-'));
  const socketPath = join(dir, 'd.sock');
  const container = join(dir, 'container');
  mkdirSync(container);
  for (const name of ['Dockerfile', 'install.mjs', 'packages.json']) {
    writeFileSync(join(container, name), 'x');
  }
  const daemon = await startDaemon(socketPath);
  const store = openStore({ path: join(dir, 'claw.db'), now: 0 });
  const engines = await discoverEngines();
  let now = 0;
  /** Opens the sandbox as a start does. Returns why no agent runs, and how often a build was tried by then. */
  const start = async () => {
    const sandbox = createAgentsSandbox({
      projectDir: dir,
      settings: { ...readSettings({}, dir), dataDir: dir, sandbox: 'docker' },
      homeDir: dir,
      environment: { DOCKER_HOST: `unix://${socketPath}` },
      engines,
      store,
      log,
      now: () => now,
      machines: [],
      onFileConflict: () => {},
      onMachineTrouble: () => {},
      obstacle: null,
    });
    const opened = await sandbox.open();
    return [daemon.builds, opened.kind === 'unavailable' ? opened.advice : ''] as const;
  };
  const [first, why] = await start();
  expect(first).toBe(1);
  expect(why).toContain(
    "the agent's image cannot be built: code ENOTFOUND; a start within 15 minutes does not try it again, `/sandbox build` does",
  );
  now += 14 * MINUTE_MS;
  expect(await start()).toEqual([1, why]);
  writeFileSync(join(container, 'packages.json'), 'y');
  expect(await start()).toEqual([2, why]);
  expect(await start()).toEqual([2, why]);
  now += 15 * MINUTE_MS;
  expect(await start()).toEqual([3, why]);
  store.engines.noteFailedBuild(null);
  expect(await start()).toEqual([4, why]);
  now -= 60 * MINUTE_MS;
  expect(await start()).toEqual([5, why]);
  daemon.close();
  store.close();
  rmSync(dir, { recursive: true, force: true });
});
