import { randomUUID } from 'node:crypto';
import { connectFar, type FarConnection } from '../../../lib/far/far-connection.ts';
import type { WorkerConfig } from '../../../lib/far/worker-folder.ts';
import type { Engine } from '../../engines/engine.ts';
import { openFarWorker } from '../../far/worker.ts';
import type { AgentUser } from '../../mounts/ownership.ts';
import { ALIVE_MS, type Alive, chatOf, PROTOCOL, subjects } from './messages.ts';

export type RunningWorker = {
  /** Resolves with the reason when the home does not let this machine in any more. */
  readonly refused: Promise<string>;
  stop(): Promise<void>;
};

/** A machine that was removed while it was away hears it when it dials. */
export function downText({ host, port }: WorkerConfig, reason: string): string {
  return /authorization/i.test(reason)
    ? `${host}:${port} does not let this machine in, and is tried again. If it was removed, join again with a new code.`
    : `${host}:${port} does not answer (${reason}), and is tried again. Is the assistant there running?`;
}

/** A better engine was here before, and only the owner lets agents run in this one. */
export type WaitingForWord = { readonly engine: string; readonly reason: string };

/**
 * Tells the home that this machine waits for the owner's word.
 *
 * @returns what ends that, and a promise of the engine that the owner allows
 */
export async function waitForWord(
  config: WorkerConfig,
  waits: WaitingForWord,
  parts: {
    readonly onWord: (engine: string) => void;
    readonly onRefused: (reason: string) => void;
    readonly onProgress: (line: string) => void;
  },
): Promise<{ close(): Promise<void> }> {
  const { name, abilities, capacity } = config;
  const ended = new AbortController();
  const alive: Alive = {
    ...{ protocol: PROTOCOL, boot: randomUUID(), description: 'no engine', abilities, capacity },
    ...{ running: 0, folders: [], waits },
  };
  const dialed = connectFar({
    ...config,
    waitsForServer: true,
    signal: ended.signal,
    onUp: () => {},
    onDown: (reason) => parts.onProgress(downText(config, reason)),
    onRefused: parts.onRefused,
  });
  const opened = dialed.then((connection) => {
    connection.subscribe(subjects.sandbox(name), (_, message) =>
      parts.onWord(message.toString('utf8', 0, 64)),
    );
    const say = () => connection.publish(subjects.alive(name), JSON.stringify(alive));
    say();
    return { connection, timer: setInterval(say, ALIVE_MS) };
  });
  opened.catch(() => {});
  return {
    async close() {
      ended.abort();
      // One that was never there has nothing to end.
      const own = await opened.catch(() => null);
      clearInterval(own?.timer);
      await own?.connection.close();
    },
  };
}

/** Dials the home and runs what it asks for, until it is stopped or taken out. */
export async function runFarWorker(parts: {
  readonly config: WorkerConfig;
  readonly engine: Engine;
  readonly dir: string;
  readonly user: AgentUser;
  readonly onProgress: (line: string) => void;
}): Promise<RunningWorker> {
  const { config, engine, dir, user, onProgress } = parts;
  const { name } = config;
  const refused = Promise.withResolvers<string>();
  let connection: FarConnection | null = null;
  const worker = await openFarWorker({
    engine,
    dir,
    user,
    patienceMs: config.patienceMinutes * 60_000,
    elapsed: () => performance.now(),
    now: Date.now,
    onProgress,
    send: (folder, fence, message) =>
      connection?.publish(subjects.up(name, folder, fence), message),
  });
  connection = await connectFar({
    ...config,
    waitsForServer: true,
    onDown: (reason) => onProgress(downText(config, reason)),
    onUp() {
      onProgress('the way home works again');
      worker.resume();
    },
    onRefused: (reason) => refused.resolve(reason),
  });
  let home: string | null = null;
  connection.subscribe(`far.down.${name}.>`, (subject, message) => {
    const chat = chatOf(subject);
    if (chat !== null) return worker.accept(chat.folder, chat.fence, message);
    if (subject !== subjects.home(name)) return;
    const boot = message.toString('utf8', 0, 64);
    // It may have begun containers here before this reached us: it tells which ones it does not know, and those end.
    if (home !== null && home !== boot) worker.resume();
    home = boot;
  });
  const boot = randomUUID();
  let isLeaving = false;
  const say = async () => {
    const alive: Alive = {
      protocol: PROTOCOL,
      boot,
      description: engine.description.slice(0, 200),
      abilities: [...config.abilities],
      capacity: config.capacity,
      running: worker.running(),
      folders: [...(await worker.folders())],
      waits: null,
    };
    if (!isLeaving) connection?.publish(subjects.alive(name), JSON.stringify(alive));
  };
  await say();
  const timer = setInterval(() => void say().catch(() => {}), ALIVE_MS);
  onProgress(`${name} has joined ${config.host}:${config.port}, with ${engine.description}`);
  return {
    refused: refused.promise,
    async stop() {
      clearInterval(timer);
      // Said first: what is lost here must not be started here again.
      isLeaving = true;
      connection?.publish(subjects.leaving(name), '');
      await worker.close();
      await connection?.flush().catch(() => {});
      await connection?.close();
    },
  };
}
