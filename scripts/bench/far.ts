/**
 * Compares a chat on another machine with the same chat at home: a worker in a process of its own, behind a wire with a
 * delay, both sides interleaved, a model that answers at once. Only the ratios of one run count.
 *
 *   npx node scripts/bench/far.ts [turns] [starts] [milliseconds of a round trip]
 *   npx node scripts/bench/far.ts proofs [skills] [seconds of each]
 *
 * The second form tells what the work queue adds to proofs on another machine. It needs a tree with the skill `far`.
 */
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { openBubblewrap } from '../../src/sandbox/engines/bwrap/bwrap.ts';
import { openFarWorker } from '../../src/sandbox/far/worker.ts';
import { defineMachines } from '../../src/sandbox/machines/machines.ts';
import { agentUser } from '../../src/sandbox/mounts/ownership.ts';
import { sandboxProject } from '../../src/testing/sandbox-project.ts';

const HEAD_BYTES = 10;
const PATIENCE_MS = 300_000;

if (process.argv[2] === 'proofs') benchProofs(process.argv.slice(3));
else if (process.argv[2] === '--worker')
  await runWorker(process.argv[3] ?? '', process.argv[4] ?? '');
else {
  const [turns = '60', starts = '9', roundTrip = '0'] = process.argv.slice(2);
  await bench(Number(turns), Number(starts), Number(roundTrip));
}

type Wire = {
  send(folder: string, fence: number, message: Buffer): void;
  bytes: number;
};

/** Messages over a socket: length, fence, folder; each is handed over after half a round trip. */
function wire(
  socket: Socket,
  delayMs: number,
  onMessage: (folder: string, fence: number, message: Buffer) => void,
): Wire {
  let pending = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= HEAD_BYTES) {
      const end = HEAD_BYTES + pending.readUInt32BE(0);
      if (pending.length < end) break;
      const fence = pending.readUIntBE(4, 6);
      const [folder = '', message] = splitAt(pending.subarray(HEAD_BYTES, end));
      pending = pending.subarray(end);
      const own = Buffer.from(message);
      if (delayMs === 0) onMessage(folder, fence, own);
      else setTimeout(() => onMessage(folder, fence, own), delayMs);
    }
  });
  socket.on('error', () => {});
  const made: Wire = {
    bytes: 0,
    send(folder, fence, message) {
      const name = Buffer.from(folder);
      const head = Buffer.alloc(HEAD_BYTES + 1);
      head.writeUInt32BE(1 + name.length + message.length, 0);
      head.writeUIntBE(fence, 4, 6);
      head[HEAD_BYTES] = name.length;
      made.bytes += message.length;
      socket.write(Buffer.concat([head, name, message]));
    },
  };
  return made;
}

function splitAt(bytes: Buffer): [string, Buffer] {
  const end = 1 + (bytes[0] ?? 0);
  return [bytes.toString('utf8', 1, end), bytes.subarray(end)];
}

function here() {
  return agentUser({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
}

async function runWorker(dir: string, address: string): Promise<void> {
  const [port, delayMs] = address.split('/').map(Number);
  const user = here();
  const engine = await openBubblewrap({
    user,
    isRoot: process.getuid?.() === 0,
    nodePath: process.execPath,
  });
  const socket = connect(port ?? 0, '127.0.0.1').setNoDelay();
  const own: { wire: Wire | null } = { wire: null };
  const worker = await openFarWorker({
    ...{
      engine,
      dir,
      user,
      patienceMs: PATIENCE_MS,
      elapsed: () => performance.now(),
      now: Date.now,
    },
    onProgress: () => {},
    send: (folder, fence, message) => own.wire?.send(folder, fence, message),
  });
  own.wire = wire(socket, delayMs ?? 0, worker.accept);
  socket.once('close', () => void worker.close().then(() => process.exit(0)));
}

async function bench(turns: number, starts: number, roundTripMs: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'claw-far-bench-'));
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const dialed = once(server, 'connection');
  const child = fork(import.meta.filename, ['--worker', dir, `${port}/${roundTripMs / 2}`]);
  const socket = z
    .tuple([z.custom<Socket>()])
    .parse(await dialed)[0]
    .setNoDelay();
  const handlers = new Map<string, (message: Buffer) => void>();
  const line = wire(socket, roundTripMs / 2, (folder, fence, message) =>
    handlers.get(`${folder}.${fence}`)?.(message),
  );
  const machines = defineMachines({
    name: 'bench',
    create({ openEngine }) {
      const engine = openEngine({
        machine: 'nas',
        description: 'a worker in a process of its own',
        patienceMs: PATIENCE_MS,
        filesLimit: { bytes: Infinity, files: Infinity, settings: '' },
        openPipe: (folder, fence) => ({
          send: (message) => line.send(folder, fence, message),
          listen(handler) {
            handlers.set(`${folder}.${fence}`, handler);
            return () => void handlers.delete(`${folder}.${fence}`);
          },
        }),
      });
      const look = { name: 'nas', state: 'here', abilities: [], capacity: 4, running: 0 } as const;
      return {
        list: () => [{ ...look, description: engine.description, engine }],
        drain: () => false,
        close: async () => engine.close('the bench is over'),
      };
    },
  });
  let fence = 0;
  const places = {
    of: (folder: string) => ({ machine: folder === 'other' ? 'nas' : null, needs: [] }),
    set: () => {},
    nextFence: () => {
      fence += 1;
      return fence;
    },
  };
  const options = { machines: [machines], places };
  const project = await sandboxProject({ engine: 'bubblewrap', options });
  const timed = async (folder: string): Promise<number> => {
    const began = performance.now();
    await project.answer('hello', { folder });
    return performance.now() - began;
  };
  const found = { home: [] as number[], far: [] as number[], homeCold: [] as number[] };
  const farCold: number[] = [];
  const bytes: number[] = [];
  for (let start = 0; start < starts; start += 1) {
    found.homeCold.push(await timed('family'));
    const before = line.bytes;
    farCold.push(await timed('other'));
    bytes.push(line.bytes - before);
    for (let turn = 0; turn < turns / starts; turn += 1) {
      found.home.push(await timed('family'));
      found.far.push(await timed('other'));
    }
    await project.sandbox.stop('family');
    await project.sandbox.stop('other');
  }
  const [home, far] = [median(found.home), median(found.far)];
  // The first start there has no contents yet.
  const [homeCold, cold] = [median(found.homeCold.slice(1)), median(farCold.slice(1))];
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  console.log(
    `warm: ${ms(home)} at home, ${ms(far)} there: ${(far / home).toFixed(2)} x; ` +
      `without two round trips ${((far - 2 * roundTripMs) / home).toFixed(2)} x`,
  );
  console.log(
    `first answer of a container: ${ms(homeCold)} at home, ${ms(cold)} there: ` +
      `${(cold / homeCold).toFixed(2)} x (the very first: ${ms(farCold[0] ?? Number.NaN)})`,
  );
  console.log(`sent for a start: first ${bytes[0]} bytes, later ${median(bytes.slice(1))}`);
  await project[Symbol.asyncDispose]();
  socket.destroy();
  server.close();
  if (child.exitCode === null) await once(child, 'exit');
  await rm(dir, { recursive: true, force: true });
}

/** The skill has the queue, so it has the measurement as well. */
function benchProofs(words: readonly string[]): void {
  const root = join(import.meta.dirname, '../..');
  if (!existsSync(join(root, 'src/proof-runners/far.ts'))) {
    throw new Error('Apply the skill `far` first: npx claw apply far');
  }
  const { status } = spawnSync(
    process.execPath,
    [join(root, 'skills/far/tests/benchmark.ts'), ...words],
    { stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
