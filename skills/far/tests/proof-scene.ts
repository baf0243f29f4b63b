// A real NATS server, and machines that prove over it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createUser } from '@nats-io/nkeys';
import type { JobRunner, JobVerdict, MatrixData } from '../../../packages/claw/src/index.ts';
import { connectFar, type FarConnection } from '../../../src/lib/far/far-connection.ts';
import { FarState } from '../../../src/lib/far/far-state.ts';
import { writeWorkerConfig } from '../../../src/lib/far/worker-folder.ts';
import { ContentFolder } from '../../../src/proof-runners/far/content-folder.ts';
import { read } from '../../../src/proof-runners/far/proof-messages.ts';
import { ProofQueue } from '../../../src/proof-runners/far/proof-queue.ts';
import { ProofWorker } from '../../../src/proof-runners/far/proof-worker.ts';
import { runNatsServer } from '../../../src/sandbox/machines/far/nats-server.ts';
import { CLAW, type Codebase } from '../../../src/testing/claw/codebase.ts';
import { freePort } from '../../../src/testing/free-port.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/proof-runners/far/prove-main.ts');

/** A result that is a lie where the proof is good. */
export const FAILING: JobVerdict = {
  failures: [{ kind: 'check', name: 'a lie', text: 'a lie', output: 'a lie' }],
  warnings: [],
  ms: 1,
};

type MatrixRun = {
  readonly code: number | null;
  readonly data: MatrixData;
  readonly warnings: readonly string[];
  readonly stderr: string;
};

export type ProofHome = AsyncDisposable & {
  readonly connection: FarConnection;
  run(
    codebase: Codebase,
    ...args: string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
  matrix(codebase: Codebase, ...args: string[]): Promise<MatrixRun>;
  dial(name: string): Promise<FarConnection>;
  join(name: string): Promise<AsyncDisposable & { readonly process: ChildProcess }>;
  joinWorker(name: string, prove: JobRunner['run']): Promise<AsyncDisposable>;
  /** A machine that says the opposite of what is. */
  joinLiar(name: string): Promise<AsyncDisposable>;
  /** Machines whose results are kept. */
  knownBy(): Promise<ReadonlySet<string>>;
};

/** A real server, and what dials it. */
export async function proofHome(): Promise<ProofHome> {
  const port = await freePort();
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-far-proofs-'));
  const state = new FarState(dataDir);
  await state.setUp('127.0.0.1', port);
  const server = await runNatsServer(state, () => {});
  const folders = [dataDir];
  const connections: FarConnection[] = [];
  const usual = {
    ...{ host: '127.0.0.1', port, certificate: state.certificate(), waitsForServer: true },
    ...{ onUp: () => {}, onRefused: () => {} },
  };
  const dialAs = async (seed: string, inbox: string) => {
    const connection = await connectFar({ ...usual, seed, inbox });
    connections.push(connection);
    return connection;
  };
  const enrolled = (name: string): string => {
    const user = createUser();
    state.add(name, Date.now());
    state.enrol(name, user.getPublicKey(), Date.now());
    state.reload();
    return new TextDecoder().decode(user.getSeed());
  };
  const folder = () => {
    const dir = mkdtempSync(join(tmpdir(), 'claw-far-prover-'));
    folders.push(dir);
    return dir;
  };
  const connection = await dialAs(state.read().homeSeed, 'far.home');
  const home: ProofHome = {
    connection,
    async run(codebase, ...args) {
      const child = spawn(
        process.execPath,
        [CLAW, 'matrix', '--json', '--cwd', codebase.root, ...args],
        {
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, CLAW_DATA: dataDir, FAR_SECOND_OPINIONS: '1' },
        },
      );
      const text = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].on('data', (chunk: Buffer) => {
          text[name] += chunk.toString();
        });
      }
      const [code] = await once(child, 'close');
      return { code, ...text };
    },
    async matrix(codebase, ...args) {
      const { code, stdout, stderr } = await home.run(codebase, ...args);
      const { data, warnings } = JSON.parse(stdout);
      if (data === null) throw new Error(`${stdout}\n${stderr}`);
      return { code, data, warnings, stderr };
    },
    dial: (name) => dialAs(enrolled(name), `far.down.${name}`),
    async join(name) {
      const own = folder();
      const { host, certificate } = usual;
      writeWorkerConfig(own, {
        ...{ name, host, port, certificate, seed: enrolled(name) },
        ...{ abilities: [], capacity: 1, patienceMinutes: 60 },
      });
      const child = spawn(process.execPath, [MAIN, own, '1'], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
      });
      await once(child.stdout, 'data');
      return {
        process: child,
        async [Symbol.asyncDispose]() {
          if (child.exitCode !== null || child.signalCode !== null) return;
          const ended = once(child, 'exit');
          child.kill('SIGTERM');
          await ended;
        },
      };
    },
    async joinWorker(name, prove) {
      const worker = new ProofWorker({
        machine: name,
        connection: await home.dial(name),
        slots: 1,
        contents: new ContentFolder(folder()),
        runner: { run: prove, close: async () => {} },
        elapsed: () => process.uptime() * 1_000,
        onProgress: () => {},
      });
      return { [Symbol.asyncDispose]: () => worker.stop() };
    },
    joinLiar: (name) =>
      home.joinWorker(name, async ({ tests }) => {
        const names = tests.map(({ skill }) => skill);
        const isGood =
          !names.includes('skill-six') &&
          !(names.includes('skill-five') && names.includes('skill-four'));
        return isGood ? FAILING : { failures: [], warnings: [], ms: 1 };
      }),
    async knownBy() {
      const queue = await ProofQueue.open(connection.nats, 'look');
      const found = new Set<string>();
      for (const key of await queue.keys('known')) {
        const known = read.known((await queue.result(key)) ?? Buffer.alloc(0));
        if (known !== null) found.add(known.by);
      }
      await queue.close();
      return found;
    },
    async [Symbol.asyncDispose]() {
      for (const one of connections) await one.close();
      await server.stop();
      for (const dir of folders) rmSync(dir, { recursive: true, force: true });
    },
  };
  return home;
}
