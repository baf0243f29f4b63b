// A home with a real NATS server, and workers that reach it by a proxy which cuts and stays silent.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, vi } from 'vitest';
import { enrol } from '../../../src/lib/far/enrol.ts';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { joinCode } from '../../../src/lib/far/join-code.ts';
import { writeWorkerConfig } from '../../../src/lib/far/worker-folder.ts';
import type { Places } from '../../../src/lib/machines.ts';
import { machines } from '../../../src/sandbox/machines/far.ts';
import { freePort } from '../../../src/testing/free-port.ts';
import { type SandboxProject, sandboxProject } from '../../../src/testing/sandbox-project.ts';

const WORKER = resolve(import.meta.dirname, '../../../src/sandbox/machines/far/worker-main.ts');

export const OFTEN = { interval: 100 };

export type FarHome = AsyncDisposable & {
  readonly project: SandboxProject;
  readonly state: FarState;
  readonly port: number;
  readonly proxy: FaultyLine;
  readonly places: Places & { readonly fences: number[] };
  /** What the owner was told of machines. */
  readonly trouble: string[];
  readonly lines: readonly string[];
  /** The server runs, and the home hears it. */
  ready(): Promise<void>;
  /** A code for a machine of that name, which dials the proxy. */
  code(name: string): string;
  stateOf(name: string): string | undefined;
  descriptionOf(name: string): string | undefined;
  join(name: string): Promise<FarWorkerProcess>;
};

export type FarWorkerProcess = AsyncDisposable & {
  readonly dataDir: string;
  process: ChildProcess;
  start(): void;
  /** What a file of a chat has there; null where it is not. */
  fileOf(folder: string, name: string): string | null;
};

/** An assistant's sandbox with a real server, which workers reach by a proxy that cuts. */
export async function farHome(
  machineOf: (folder: string) => string = () => 'nas',
): Promise<FarHome> {
  const [port, proxyPort] = [await freePort(), await freePort()];
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-far-home-'));
  const state = new FarState(dataDir);
  await state.setUp('127.0.0.1', port);
  const proxy = await startProxy(proxyPort, port);
  const fences: number[] = [];
  const places = {
    fences,
    of: (folder: string) => ({ machine: machineOf(folder), needs: [] }),
    set: () => {},
    nextFence() {
      fences.push(fences.length + 1);
      return fences.length;
    },
  };
  const lines: string[] = [];
  const trouble: string[] = [];
  const project = await sandboxProject({
    engine: 'bubblewrap',
    settings: { dataDir },
    options: {
      machines: [machines],
      places,
      onProgress: (line) => void lines.push(line),
      onMachineTrouble: (text) => void trouble.push(text),
    },
  });
  const list = () => project.sandbox.machines?.list() ?? [];
  const home: FarHome = {
    project,
    state,
    port,
    proxy,
    places,
    trouble,
    lines,
    ready: () => vi.waitFor(() => expect(lines).toContain('other machines can join'), OFTEN),
    code(name) {
      const code = joinCode.read(state.add(name, Date.now()));
      if (code === null) throw new Error('no code');
      return joinCode.write({ ...code, port: proxyPort });
    },
    stateOf: (name) => list().find((one) => one.name === name)?.state,
    descriptionOf: (name) => list().find((one) => one.name === name)?.description,
    async join(name) {
      await home.ready();
      const code = joinCode.read(home.code(name));
      if (code === null) throw new Error('no code');
      const own = mkdtempSync(join(tmpdir(), 'claw-far-worker-'));
      writeWorkerConfig(own, {
        ...code,
        seed: await enrol(code),
        abilities: ['gpu'],
        capacity: 2,
        patienceMinutes: 60,
      });
      const worker: FarWorkerProcess = {
        dataDir: own,
        process: spawnWorker(own),
        start() {
          worker.process = spawnWorker(own);
        },
        fileOf(folder, name) {
          const chat = join(own, 'far-worker/chats', folder);
          const found = readdirSync(chat).map((mount) => join(chat, mount, name));
          const path = found.find((one) => existsSync(one));
          return path === undefined ? null : readFileSync(path, 'utf8');
        },
        async [Symbol.asyncDispose]() {
          if (worker.process.exitCode === null && worker.process.signalCode === null) {
            worker.process.kill('SIGTERM');
            await once(worker.process, 'exit');
          }
          rmSync(own, { recursive: true, force: true });
        },
      };
      await vi.waitFor(() => expect(home.stateOf(name)).toBe('here'), OFTEN);
      return worker;
    },
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      proxy.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return home;
}

function spawnWorker(dataDir: string): ChildProcess {
  return spawn(process.execPath, [WORKER, 'run'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env['PATH'], CLAW_SANDBOX: 'bubblewrap', PATCHCLAW_WORKER_DIR: dataDir },
  });
}

type FaultyLine = { cut(): void; silent(): void; heal(): void; close(): void };

async function startProxy(port: number, target: number): Promise<FaultyLine> {
  let isDown = false;
  const sockets = new Set<Socket>();
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    if (isDown) return void near.destroy();
    const far = dial(target, '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    cut() {
      isDown = true;
      destroyAll();
    },
    silent() {
      isDown = true;
      for (const socket of sockets) {
        socket.unpipe();
        socket.pause();
      }
    },
    heal() {
      isDown = false;
      destroyAll();
    },
    close() {
      server.close();
      destroyAll();
    },
  };
}
