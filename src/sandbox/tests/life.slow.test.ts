import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { expect, test, vi } from 'vitest';
import { readSettings } from '../../config.ts';
import { describeWithEngine, TEST_DAEMON } from '../../testing/engine.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';
import { openSandbox } from '../open.ts';
import { shortHash } from '../protocol/socket-folder.ts';

const run = promisify(execFile);
const docker = new Docker({ socketPath: TEST_DAEMON.socketPath });

/** The words of each daemon for a container without privileges; podman names what Docker calls all. */
const PRIVILEGES = {
  docker: { CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges:true'], IpcMode: 'private' },
  podman: {
    CapDrop: expect.arrayContaining(['DAC_OVERRIDE', 'NET_RAW', 'SETUID', 'SYS_CHROOT']),
    SecurityOpt: ['no-new-privileges', expect.stringMatching(/^seccomp=.*podman-seccomp\.json$/)],
    IpcMode: 'shareable',
  },
};

await describeWithEngine('docker', 'containers', () => {
  test('are one per group, kept between turns, and removed at close', async () => {
    const project = await sandboxProject({ engine: 'docker' });
    await project.answer('hello');
    const [first] = await containersOf(project);
    await project.answer('hello again');
    await project.answer('hello', { folder: 'other' });
    const warm = await containersOf(project);
    expect(warm).toHaveLength(2);
    expect(warm).toContain(first);
    await project[Symbol.asyncDispose]();
    expect(await containersOf(project)).toEqual([]);
  });

  test('are made with every limit and without any privilege', async () => {
    await using project = await sandboxProject({ engine: 'docker' });
    await project.answer('hello');
    const [id = ''] = await containersOf(project);
    const { Config, HostConfig, State, Image } = await docker.getContainer(id).inspect();
    expect(State.Running).toBe(true);
    expect(Config.User).toMatch(/^[1-9]\d*:\d+$/);
    expect(HostConfig).toMatchObject({
      ...PRIVILEGES[TEST_DAEMON.name],
      ReadonlyRootfs: true,
      PidsLimit: 128,
      Memory: 1024 ** 3,
      MemorySwap: 1024 ** 3,
      NanoCpus: 1e9,
      NetworkMode: 'none',
      Init: true,
      Privileged: false,
    });
    expect(Image).toMatch(/^sha256:/);
  });

  test('that idle are stopped, and the next turn starts another', async () => {
    await using project = await sandboxProject({ engine: 'docker' });
    await project.answer('hello');
    const before = await containersOf(project);
    const { idleMs } = project.settings;
    project.settings.idleMs = 2_000;
    await project.answer('hello');
    expect(await containersOf(project)).toEqual(before);
    project.settings.idleMs = idleMs;
    await vi.waitFor(async () => expect(await containersOf(project)).toEqual([]));
    expect(await project.answer('hello')).toBe('You said: hello');
    expect(await containersOf(project)).not.toEqual(before);
  });

  test('are stopped in the middle of a turn, which is told so', async () => {
    await using project = await sandboxProject({ engine: 'docker' });
    const turn = project.turn('shell: sleep 600');
    await vi.waitFor(() => expect(project.server.requests).toHaveLength(1));
    await project.sandbox.stop('family');
    expect(await turn).toMatchObject({ kind: 'failed', code: 'AGENT_DIED' });
    expect(await containersOf(project)).toEqual([]);
    expect(await project.answer('hello')).toBe('You said: hello');
  });

  test('are stopped as soon as a turn was asked for, before they are up', async () => {
    await using project = await sandboxProject({ engine: 'docker' });
    const turn = project.turn('hello');
    await project.sandbox.stop('family');
    expect(await turn).toMatchObject({ kind: 'failed', code: 'AGENT_DIED' });
    expect(project.server.requests).toEqual([]);
    expect(await project.answer('hello')).toBe('You said: hello');
  });

  test('that a killed host left behind are removed at the next open, and no others', async () => {
    await using neighbour = await sandboxProject({ engine: 'docker' });
    await neighbour.answer('hello');
    await using project = await sandboxProject({ engine: 'docker' });
    const name = `patchclaw-leftover-${shortHash(project.dir)}`;
    const leftover = await docker.createContainer({
      name,
      Image: await imageOf(neighbour),
      Entrypoint: ['sleep', '60'],
      Labels: { 'patchclaw.instance': shortHash(project.dataDir) },
      // podman's own defaults may be above what it is allowed to set.
      HostConfig: {
        Ulimits: ['nofile', 'nproc'].map((Name) => ({ Name, Soft: 1024, Hard: 4096 })),
      },
    });
    await leftover.start();
    await using again = await sandboxProject({
      engine: 'docker',
      settings: { dataDir: project.dataDir },
    });
    expect(await containersOf(again)).toEqual([]);
    expect(await containersOf(neighbour)).toHaveLength(1);
  });

  test('of one image start after a change of the package list on another', async () => {
    await using project = await sandboxProject({
      engine: 'docker',
      files: { 'container/packages.json': '{ "apt": [], "npm": {}, "note": "a test" }' },
    });
    await using usual = await sandboxProject({ engine: 'docker' });
    await project.answer('hello');
    await usual.answer('hello');
    const own = await imageOf(project);
    expect(own).not.toBe(await imageOf(usual));
    await project.sandbox.close();
    await docker.getImage(own).remove();
  });
});

await describeWithEngine('bubblewrap', 'agents under bubblewrap', () => {
  test('leave no process and no socket behind at close', async () => {
    const project = await sandboxProject({ engine: 'bubblewrap' });
    await project.answer('hello');
    expect(await processesOf(project)).toBeGreaterThan(0);
    await project.sandbox.close();
    expect(await processesOf(project)).toBe(0);
    await project[Symbol.asyncDispose]();
  });

  test('keep their sockets short where the data folder is deep', async () => {
    await using shallow = await sandboxProject({ engine: 'bubblewrap' });
    const deep = join(shallow.dir, 'd'.repeat(60), 'e'.repeat(60));
    await using project = await sandboxProject({
      engine: 'bubblewrap',
      settings: { dataDir: deep },
    });
    expect(await project.answer('hello')).toBe('You said: hello');
    await expect(access(join(deep, 'run'))).rejects.toThrow('ENOENT');
  });
});

test('without an engine the advice says what to install', async () => {
  const opened = await openSandbox({
    projectDir: '/nonexistent',
    settings: {
      ...readSettings({ ANTHROPIC_API_KEY: 'k' }, '/nonexistent'),
      sandbox: 'docker',
    },
    homeDir: '/nonexistent',
    elapsed: () => 0,
    now: Date.now,
    onProgress: () => {},
    environment: { DOCKER_HOST: 'unix:///nonexistent/docker.sock' },
  });
  expect(opened).toEqual({
    kind: 'unavailable',
    advice: expect.stringMatching(/CLAW_SANDBOX is docker.*apt install docker\.io.*macOS/),
  });
});

async function containersOf({ dataDir }: SandboxProject): Promise<string[]> {
  const filters = { label: [`patchclaw.instance=${shortHash(dataDir)}`] };
  return (await docker.listContainers({ all: true, filters })).map(({ Id }) => Id);
}

async function imageOf(project: SandboxProject): Promise<string> {
  const [id = ''] = await containersOf(project);
  return (await docker.getContainer(id).inspect()).Config.Image;
}

async function processesOf({ dir }: SandboxProject): Promise<number> {
  const { stdout } = await run('ps', ['-eo', 'args']);
  return stdout.split('\n').filter((line) => line.startsWith('bwrap') && line.includes(dir)).length;
}
