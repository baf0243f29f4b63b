import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Places } from '../lib/machines.ts';
import { openBubblewrap } from '../sandbox/engines/bwrap/bwrap.ts';
import type { Engine } from '../sandbox/engines/engine.ts';
import type { FilesLimit } from '../sandbox/far/chat-files.ts';
import { type FarWorker, openFarWorker } from '../sandbox/far/worker.ts';
import {
  defineMachines,
  type Machine,
  type MachinesContribution,
} from '../sandbox/machines/machines.ts';
import { agentUser } from '../sandbox/mounts/ownership.ts';

/** Another machine in the same process: a real worker on a real engine, behind a wire that can be cut. */
export type FarMachine = AsyncDisposable & {
  readonly dir: string;
  readonly contribution: MachinesContribution;
  readonly places: Places & { readonly fences: number[] };
  /** Bytes that passed to the machine. */
  readonly sentBytes: () => number;
  /** What the home has asked about files and containers, one word for each question. */
  readonly asked: string[];
  /** What a file of a chat has there; null where it is not. */
  fileOf(folder: string, name: string): string | null;
  readonly progress: string[];
  machineState: Machine['state'];
  worker: FarWorker;
  cut(): void;
  mend(): void;
  /** The worker ends without a word, and another one takes its place. */
  replaceWorker(): Promise<void>;
  /** What the home is told of files that are left there. */
  filesLeft(): Promise<void>;
  /** Lets a message reach the home under any name, as a hostile worker would send it. */
  forge(folder: string, fence: number, message: Buffer): void;
};

type Handler = (message: Buffer) => unknown;

const NO_LIMIT: FilesLimit = { bytes: Infinity, files: Infinity, settings: 'NONE' };

export async function farMachine(
  over: {
    readonly patienceMs?: number;
    readonly name?: string;
    readonly engine?: Engine;
    readonly filesLimit?: FilesLimit;
  } = {},
): Promise<FarMachine> {
  const { patienceMs = 60_000, name = 'nas', filesLimit = NO_LIMIT } = over;
  // Longer than a socket's path may be, as a folder below somebody's home folder can be.
  const dir = await mkdtemp(join(tmpdir(), `claw-far-${'x'.repeat(100)}-`));
  const user = agentUser({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
  const engine =
    over.engine ??
    (await openBubblewrap({ user, isRoot: process.getuid?.() === 0, nodePath: process.execPath }));
  const homes = new Map<string, Handler>();
  const progress: string[] = [];
  let isCut = false;
  let sent = 0;
  const asked: string[] = [];
  let generation = 0;
  const fences: number[] = [];
  let placedOn: string | null = name;

  const openWorker = () => {
    generation += 1;
    const own = generation;
    return openFarWorker({
      engine,
      dir,
      user,
      patienceMs,
      elapsed: () => performance.now(),
      now: Date.now,
      onProgress: (line) => void progress.push(line),
      send(folder, fence, message) {
        if (isCut || own !== generation) return;
        setImmediate(() => homes.get(`${folder}.${fence}`)?.(Buffer.from(message)));
      },
    });
  };
  let onLeft: (machine: Machine, folders: readonly string[]) => void = () => {};
  let open: (() => Machine) | null = null;

  const machine: FarMachine = {
    dir,
    progress,
    machineState: 'here',
    worker: await openWorker(),
    sentBytes: () => sent,
    asked,
    fileOf(folder, name) {
      const chat = join(dir, 'chats', folder);
      const found = readdirSync(chat).map((mount) => join(chat, mount, name));
      const path = found.find((one) => existsSync(one));
      return path === undefined ? null : readFileSync(path, 'utf8');
    },
    places: {
      fences,
      of: () => ({ machine: placedOn, needs: [] }),
      set: (_, place) => {
        placedOn = place.machine;
      },
      nextFence() {
        const next = (fences.at(-1) ?? 0) + 1;
        fences.push(next);
        return next;
      },
    },
    contribution: defineMachines({
      name: 'test',
      create({ openEngine, onFilesLeft }) {
        onLeft = onFilesLeft;
        const farEngine = openEngine({
          machine: name,
          description: engine.description,
          patienceMs,
          filesLimit,
          openPipe: (folder, fence) => ({
            send(message) {
              if (isCut) return;
              sent += message.length;
              const [, op] = /"op":"([a-z]+)"/.exec(message.toString('latin1', 0, 4_096)) ?? [];
              if (op !== undefined) asked.push(op);
              const { worker } = machine;
              setImmediate(() => worker.accept(folder, fence, Buffer.from(message)));
            },
            listen(handler) {
              homes.set(`${folder}.${fence}`, handler);
              return () => void homes.delete(`${folder}.${fence}`);
            },
          }),
        });
        open = () => ({
          name,
          state: machine.machineState,
          description: engine.description,
          abilities: ['gpu'],
          capacity: 4,
          running: machine.worker.running(),
          engine: farEngine,
        });
        return {
          list: () => (open === null ? [] : [open()]),
          drain: () => false,
          close: async () => farEngine.close('the home ends'),
        };
      },
    }),
    cut() {
      isCut = true;
    },
    mend() {
      isCut = false;
      open?.().engine.resume();
      machine.worker.resume();
    },
    async replaceWorker() {
      const old = machine.worker;
      machine.worker = await openWorker();
      // Its containers die with it, and it cannot say so.
      await old.endAll('killed');
    },
    async filesLeft() {
      if (open !== null) onLeft(open(), await machine.worker.folders());
    },
    forge: (folder, fence, message) => homes.get(`${folder}.${fence}`)?.(message),
    async [Symbol.asyncDispose]() {
      await machine.worker.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
  return machine;
}
