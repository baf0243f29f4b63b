// The other machine is a network namespace with a Docker daemon of its own. Needs root.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { enrol } from '../../../src/lib/far/enrol.ts';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { joinCode } from '../../../src/lib/far/join-code.ts';
import { writeWorkerConfig } from '../../../src/lib/far/worker-folder.ts';
import { machines } from '../../../src/sandbox/machines/far.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { freePort } from '../../../src/testing/free-port.ts';
import { sandboxProject } from '../../../src/testing/sandbox-project.ts';

const WORKER = resolve(import.meta.dirname, '../../../src/sandbox/machines/far/worker-main.ts');
const NAME = 'claw-far-nas';
const [HOME_ADDRESS, NAS_ADDRESS] = ['10.77.31.1', '10.77.31.2'];

const OFTEN = { interval: 200 };
const run = (...words: string[]) => execFileSync(words[0] ?? '', words.slice(1), { stdio: 'pipe' });
const inside = ['nsenter', `--net=/var/run/netns/${NAME}`];

await describeWithEngine(
  'docker',
  'a machine in a network of its own, with a daemon of its own',
  () => {
    test.skipIf(process.getuid?.() !== 0)(
      'runs a chat as closed as at home; a link that is down delays it; nothing listens there',
      async () => {
        await using nas = await namespaceWithDocker();
        const dataDir = mkdtempSync(join(tmpdir(), 'claw-far-home-'));
        const state = new FarState(dataDir);
        await state.setUp(HOME_ADDRESS, await freePort('0.0.0.0'));
        const lines: string[] = [];
        let fence = 0;
        const places = {
          of: () => ({ machine: 'nas', needs: [] }),
          set: () => {},
          nextFence: () => {
            fence += 1;
            return fence;
          },
        };
        await using project = await sandboxProject({
          engine: 'docker',
          settings: { dataDir },
          options: { machines: [machines], places, onProgress: (line) => void lines.push(line) },
        });
        await vi.waitFor(() => expect(lines).toContain('other machines can join'), OFTEN);
        const code = joinCode.read(state.add('nas', Date.now()));
        if (code === null) throw new Error('no code');
        const seed = await enrol(code);
        const own = { ...code, seed, abilities: [], capacity: 2, patienceMinutes: 60 };
        writeWorkerConfig(nas.dir, own);
        const worker = spawn(
          inside[0] ?? '',
          [...inside.slice(1), process.execPath, WORKER, 'run'],
          {
            stdio: 'inherit',
            env: {
              PATH: process.env['PATH'],
              CLAW_SANDBOX: 'docker',
              PATCHCLAW_WORKER_DIR: nas.dir,
              DOCKER_HOST: `unix://${nas.socket}`,
            },
          },
        );
        try {
          const seen = () => project.sandbox.machines?.list()[0]?.state;
          await vi.waitFor(() => expect(seen()).toBe('here'), OFTEN);
          const closed = await project.answer(
            'shell: grep -c : /proc/net/dev; id -u; touch /x 2>&1; grep CapEff /proc/self/status; echo far > where',
          );
          expect(closed).toMatch(/^1\n1000\n.*Read-only file system\nCapEff:\s+0000000000000000\n/);
          expect(readFileSync(join(project.dir, 'groups/family/where'), 'utf8')).toBe('far\n');
          const there = run('docker', '-H', `unix://${nas.socket}`, 'ps', '-q').toString();
          expect(there.trim().split('\n')).toHaveLength(1);
          const listens = run(...inside, 'ss', '-lntH').toString();
          expect(listens).toBe('');

          const asked = project.turn('shell: echo once >> count; sleep 1; cat count');
          await vi.waitFor(() => expect(project.server.requests).toHaveLength(3), OFTEN);
          run('ip', 'link', 'set', 'claw-far-0', 'down');
          await sleep(20_000);
          run('ip', 'link', 'set', 'claw-far-0', 'up');
          expect(await asked).toMatchObject({ kind: 'answered', text: 'once\n[exit code 0]' });
          expect(project.server.requests).toHaveLength(4);
          expect(fence).toBe(1);
        } finally {
          worker.kill('SIGTERM');
          if (worker.exitCode === null) await once(worker, 'exit');
        }
        const left = run('docker', '-H', `unix://${nas.socket}`, 'ps', '-aq').toString();
        expect(left).toBe('');
      },
      1_800_000,
    );
  },
);

async function namespaceWithDocker(): Promise<
  AsyncDisposable & { readonly dir: string; readonly socket: string }
> {
  const dir = mkdtempSync('/tmp/claw-far-nas-');
  const socket = join(dir, 'docker.sock');
  const tidy = () => {
    if (existsSync(`/var/run/netns/${NAME}`)) run('ip', 'netns', 'del', NAME);
    // The kernel takes it away in its own time, and not while something of a run that was killed is in that network.
    spawnSync('ip', ['link', 'del', 'claw-far-0'], { stdio: 'ignore' });
  };
  tidy();
  run('ip', 'netns', 'add', NAME);
  run('ip', 'link', 'add', 'claw-far-0', 'type', 'veth', 'peer', 'name', 'claw-far-1');
  run('ip', 'link', 'set', 'claw-far-1', 'netns', NAME);
  run('ip', 'addr', 'add', `${HOME_ADDRESS}/24`, 'dev', 'claw-far-0');
  run('ip', 'link', 'set', 'claw-far-0', 'up');
  run('ip', '-n', NAME, 'addr', 'add', `${NAS_ADDRESS}/24`, 'dev', 'claw-far-1');
  run('ip', '-n', NAME, 'link', 'set', 'claw-far-1', 'up');
  run('ip', '-n', NAME, 'link', 'set', 'lo', 'up');
  mkdirSync(join(dir, 'docker'));
  const daemon: ChildProcess = spawn(
    inside[0] ?? '',
    [
      ...inside.slice(1),
      'dockerd',
      ...['--data-root', join(dir, 'docker'), '--exec-root', join(dir, 'exec')],
      ...['--pidfile', join(dir, 'dockerd.pid'), '-H', `unix://${socket}`],
      ...['--bridge', 'none', '--iptables=false'],
    ],
    { stdio: 'ignore' },
  );
  await vi.waitFor(() => run('docker', '-H', `unix://${socket}`, 'info'), OFTEN);
  const images = run('docker', 'images', '--format', '{{.Repository}}:{{.Tag}}')
    .toString()
    .split('\n')
    .filter((image) => /^(patchclaw-base|patchclaw-agent|node):/.test(image));
  execFileSync('bash', ['-c', `docker save ${images.join(' ')} | docker -H unix://${socket} load`]);
  return {
    dir,
    socket,
    async [Symbol.asyncDispose]() {
      daemon.kill('SIGTERM');
      if (daemon.exitCode === null) await once(daemon, 'exit');
      tidy();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
