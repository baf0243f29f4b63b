import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Docker from 'dockerode';
import { expect, onTestFinished, test, vi } from 'vitest';
import { describeWithEngine, TEST_DAEMON } from '../../testing/engine.ts';
import { sandboxProject } from '../../testing/sandbox-project.ts';
import { openDocker, ownContainers, pingDocker } from '../engines/daemon/daemon.ts';
import { findImage } from '../engines/daemon/image.ts';
import { DEFAULT_LIMITS } from '../engines/engine.ts';

test('a daemon that says it is there and then nothing more is no engine', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-daemon-'));
  const asked: string[] = [];
  const daemon = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/_ping') response.end('OK');
  });
  const socketPath = join(dir, 'd.sock');
  await new Promise<void>((resolve) => daemon.listen(socketPath, resolve));
  onTestFinished(() => {
    vi.useRealTimers();
    daemon.closeAllConnections();
    daemon.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const docker = await pingDocker({ socketPath });
  if (docker === null) throw new Error('no answer');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const opening = openDocker({
    docker,
    name: 'docker',
    user: { uid: 1000, gid: 1000 },
    instanceId: 'hung',
    projectDir: dir,
    dataDir: dir,
    baseImage: null,
    onProgress: () => {},
  });
  const failure = opening.catch((error: unknown) => error);
  while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await failure).toMatchObject({
    name: 'EngineUnusable',
    message: expect.stringMatching(/does not answer/),
  });
});

test('a container that podman refuses to remove while it ends is removed before its engine says so', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-daemon-'));
  const removals: number[] = [];
  const daemon = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://podman');
    const path = pathname.replace(/^\/v[\d.]+/, '');
    const says = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    };
    if (request.method === 'DELETE') {
      removals.push(removals.length < 2 ? 500 : 204);
      return removals.at(-1) === 204
        ? void response.writeHead(204).end()
        : says(500, { message: 'container state improper: stopped' });
    }
    if (path === '/containers/json') return says(200, [{ Id: 'ending' }]);
    if (path === '/info') return says(200, { SecurityOptions: [] });
    if (path === '/version') return says(200, { Version: '4.3.1' });
    return says(200, { Id: 'image', RootFS: { Layers: ['a'] } });
  });
  const socketPath = join(dir, 'd.sock');
  await new Promise<void>((resolve) => daemon.listen(socketPath, resolve));
  onTestFinished(() => {
    daemon.closeAllConnections();
    daemon.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await openDocker({
    docker: new Docker({ socketPath }),
    name: 'podman',
    user: { uid: 1000, gid: 1000 },
    instanceId: 'ending',
    projectDir: join(import.meta.dirname, '../../..'),
    dataDir: dir,
    baseImage: null,
    onProgress: () => {},
  });
  expect(removals).toEqual([500, 500, 204]);
});

await describeWithEngine('docker', 'an image that was cleared away', () => {
  test('is made again for the next turn', async () => {
    // Packages of its own make it an image of its own.
    const files = { 'container/packages.json': `{ "apt": [], "npm": {} }\n\n\n` };
    await using project = await sandboxProject({ engine: 'docker', files });
    const docker = new Docker({ socketPath: TEST_DAEMON.socketPath });
    const look = () => findImage(docker, { projectDir: project.dir, baseImage: null });
    const { name } = await look();
    if (name === null) throw new Error('no image');
    onTestFinished(async () => {
      await docker.getImage(name).remove({ force: true });
    });
    await docker.getImage(name).remove({ force: true });
    expect((await look()).isThere).toBe(false);
    expect(await project.answer('hello')).toContain('hello');
    expect((await look()).isThere).toBe(true);
  });
});

await describeWithEngine('docker', 'a daemon that goes away', () => {
  test('is told from a container that goes away; once it is back, its containers are removed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'claw-daemon-'));
    const socketPath = join(dir, 'd.sock');
    const open = new Set<Socket>();
    const openWay = () => createTcpServer(pass).listen(socketPath);
    const pass = (socket: Socket) => {
      const onward = connect(TEST_DAEMON.socketPath);
      for (const end of [socket, onward]) {
        open.add(end);
        end.on('error', () => {});
      }
      socket.pipe(onward).pipe(socket);
    };
    let way = openWay();
    await once(way, 'listening');
    const instanceId = `away-${process.pid}`;
    const real = new Docker({ socketPath: TEST_DAEMON.socketPath });
    onTestFinished(async () => {
      way.close();
      for (const { Id } of await ownContainers(real, instanceId)) {
        await real.getContainer(Id).remove({ force: true });
      }
      rmSync(dir, { recursive: true, force: true });
    });
    await using project = await sandboxProject({ engine: 'docker' });
    const engine = await openDocker({
      docker: new Docker({ socketPath }),
      name: 'docker',
      user: { uid: 1000, gid: 1000 },
      instanceId,
      projectDir: project.dir,
      dataDir: dir,
      baseImage: null,
      onProgress: () => {},
    });
    const start = (folder: string) =>
      engine.startContainer({
        folder,
        mounts: [],
        limits: DEFAULT_LIMITS,
        endpoint: { kind: 'socket' },
      });
    const [first, second] = [await start('first'), await start('second')];
    await first.stop();
    await first.ended;
    expect(first.isEngineLost).toBe(false);
    way.close();
    for (const socket of open) socket.destroy();
    await second.ended;
    expect(second.isEngineLost).toBe(true);
    await second.stop();
    const left = () => ownContainers(real, instanceId);
    expect(await left()).toHaveLength(1);
    way = openWay();
    await vi.waitFor(async () => expect(await left()).toEqual([]));
  });
});

await describeWithEngine('docker', 'an image that cannot be built', () => {
  test('is replaced by the one from before, and the reason is told where the engine is', async () => {
    const files = {
      'container/install.mjs': [
        "console.log('added 1 package');",
        "console.error('npm error code ENOTFOUND');",
        "console.error('npm error errno -3008');",
        "console.error('npm error no server of that name');",
        "console.error('npm error A complete log of this run can be found in: /tmp/x');",
        'process.exit(1);',
      ].join('\n'),
    };
    await using project = await sandboxProject({ engine: 'docker', files });
    expect(project.sandbox.description).toMatch(
      /image patchclaw-agent of before \(the agent's image cannot be built: code ENOTFOUND; no server of that name\)$/,
    );
    expect(await project.answer('hello')).toContain('hello');
  });
});
