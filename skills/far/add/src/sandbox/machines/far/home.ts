import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connectFar, type FarConnection } from '../../../lib/far/far-connection.ts';
import { FarState, minutesLeft } from '../../../lib/far/far-state.ts';
import { TokenBucket } from '../../../lib/token-bucket.ts';
import type { FilesLimit } from '../../far/chat-files.ts';
import type { FarEngine } from '../../far/far-engine.ts';
import { endMessage, isEndMessage } from '../../far/resumable-link.ts';
import type { Machine, MachineSource, MachinesContext } from '../machines.ts';
import { MachineLine } from './machine-line.ts';
import {
  ALIVE_MS,
  type Alive,
  AWAY_MS,
  type ChatSubject,
  readAlive,
  subjects,
} from './messages.ts';
import { runNatsServer } from './nats-server.ts';

export type FarHomeParts = MachinesContext & {
  readonly patienceMs: number;
  readonly filesLimit: FilesLimit;
  readonly now: () => number;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
};

/** A machine that waits for the owner's word for so long is told of. */
const WAITING_MS = 60_000;
/** Codes are used one at a time. */
const ENROLMENTS = { burst: 20, perSecond: 1 };

type Known = {
  readonly engine: FarEngine;
  alive: Alive | null;
  lastSeenAt: number;
  /** Since when it waits for the owner's word, and whether the owner was told so. */
  waitsSince: number | null;
  isToldOfWaiting: boolean;
};

const waitsText = (name: string, { engine, reason }: NonNullable<Alive['waits']>) =>
  `runs no agents until you say \`/far sandbox ${name} ${engine}\` (${reason})`;

/** Opens the home's end: the server, the connection to it, and what the machines say. Null before `claw far setup`. */
export async function openFarHome(parts: FarHomeParts): Promise<MachineSource | null> {
  const state = new FarState(parts.dataDir);
  if (!state.isSetUp) return null;
  const isOwn = state.read().apply !== null;
  const server = isOwn ? null : await runNatsServer(state, parts.onProgress);
  const home = new FarHome(parts, state);
  // A server that is not there keeps nobody waiting: machines are away until it is.
  void home.connect().catch((error: unknown) => {
    if (!home.isClosed) parts.onProgress(`other machines cannot be used: ${String(error)}`);
  });
  return {
    list: () => home.list(),
    problem: () => home.problem(server?.problem() ?? null),
    drain: (name, isDraining) => home.drain(name, isDraining),
    async close() {
      try {
        await home.close();
      } finally {
        await server?.stop();
      }
    },
  };
}

class FarHome {
  readonly #parts: FarHomeParts;
  readonly #state: FarState;
  /** Workers end what ran for another home. */
  readonly #boot = randomUUID();
  readonly #known = new Map<string, Known>();
  /** Handlers of the messages about containers, by their subjects. */
  readonly #chats = new Map<string, (message: Buffer) => boolean>();
  /** What is heard of each machine. */
  readonly #lines = new Map<string, MachineLine>();
  #connection: FarConnection | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** The server's file as it was at the last tick. */
  #config = '';
  /** Why the owner's command failed last. */
  #applyProblem: string | null = null;
  #isApplying = false;
  /** Why the server cannot be had; null where it can. */
  #down: string | null = 'it was not asked yet';
  readonly #closed = new AbortController();

  constructor(parts: FarHomeParts, state: FarState) {
    this.#parts = parts;
    this.#state = state;
  }

  async connect(): Promise<void> {
    // Before it is connected: the owner's server may have to be told of this home first.
    this.#timer = setInterval(() => this.#tick(), ALIVE_MS).unref();
    this.#tick();
    const connection = await connectFar({
      ...this.#state.address(),
      waitsForServer: true,
      signal: this.#closed.signal,
      onUp: () => {
        this.#down = null;
        this.#parts.onProgress('the server of other machines answers again');
      },
      onDown: (reason) => {
        this.#down = reason;
        this.#parts.onProgress(
          `the server of other machines does not answer (${reason}); it is tried again`,
        );
      },
    });
    if (this.isClosed) return await connection.close();
    this.#connection = connection;
    this.#down = null;
    const enrolments = new TokenBucket({ ...ENROLMENTS, now: this.#parts.elapsed });
    connection.subscribe('far.enrol.*', (subject, message) => {
      if (enrolments.take()) void this.#enrol(subject, message);
    });
    await connection.flush();
    this.#tick();
    this.#parts.onProgress('other machines can join');
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted;
  }

  /** @param ofServer why the server that runs here ended last */
  problem(ofServer: string | null): string | null {
    if (this.#down === null) return null;
    const { host, port } = this.#state.read();
    const why = ofServer ?? `Reason: ${this.#down}.`;
    return `The server that machines dial (${host}:${port}) does not answer, and is tried again. ${why}`;
  }

  list(): readonly Machine[] {
    return this.#state.read().machines.map(({ name, isDraining, cutOff }): Machine => {
      const known = this.#of(name);
      const { alive, lastSeenAt, engine } = known;
      const minutes = minutesLeft(cutOff, this.#parts.now());
      const isAway = minutes > 0 || alive === null || this.#parts.now() - lastSeenAt > AWAY_MS;
      const waits = isAway ? null : (alive?.waits ?? null);
      return {
        name,
        state: isAway || waits !== null ? 'away' : isDraining ? 'draining' : 'here',
        description:
          minutes > 0
            ? `it sent too much and is cut off for ${minutes} more min`
            : ((waits && waitsText(name, waits)) ??
              alive?.description ??
              'not seen since the assistant started'),
        abilities: alive?.abilities ?? [],
        capacity: alive?.capacity ?? 1,
        running: alive?.running ?? 0,
        engine,
      };
    });
  }

  drain(name: string, isDraining: boolean): boolean {
    return this.#state.drain(name, isDraining);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const { engine } of this.#known.values()) engine.close('the home ends');
    const lines = [...this.#lines.values()];
    this.#lines.clear();
    await Promise.all(lines.map((line) => line.close()));
    await this.#connection?.flush().catch(() => {});
    await this.#connection?.close();
  }

  #tick(): void {
    const { machines, pending, apply } = this.#state.read();
    // A server that was busy may have missed its signal. Whoever was taken out must be out, and a code must count.
    const config = readFileSync(this.#state.configPath, 'utf8');
    const isDue = config !== this.#config || (apply === null && pending.length > 0);
    if (isDue && !this.#isApplying) void this.#apply(config);
    const names = new Set(machines.map(({ name }) => name));
    for (const [name, { engine }] of this.#known) {
      if (names.has(name)) continue;
      this.#known.delete(name);
      void this.#lines.get(name)?.close();
      this.#lines.delete(name);
      engine.close('it was taken out');
      this.#parts.onProgress(`${name} was taken out`);
    }
    for (const { name, cutOff, mayUse } of machines) {
      if (minutesLeft(cutOff, this.#parts.now()) > 0) continue;
      if (this.#lines.get(name)?.isOver !== false) this.#openLine(name);
      this.#connection?.publish(subjects.home(name), this.#boot);
      if (mayUse !== null) this.#tellSandbox(name, mayUse);
    }
  }

  /** The owner's word counts for a machine that waits for it now, not for a later time. */
  #tellSandbox(name: string, engine: string): void {
    const known = this.#of(name);
    if (known.alive === null) return;
    if (known.alive.waits !== null) {
      return void this.#connection?.publish(subjects.sandbox(name), engine);
    }
    this.#state.letUse(name, null);
    known.isToldOfWaiting = false;
  }

  /** Hears a machine from now on. */
  #openLine(name: string): void {
    const line = new MachineLine({
      name,
      address: this.#state.address(),
      elapsed: this.#parts.elapsed,
      onChat: (subject, message) => this.#chats.get(subject)?.(message) ?? null,
      onOutdated: (chat, message) => this.#tellOutdated(chat, message),
      onPresence: (kind, message) => this.#acceptPresence(name, kind, message),
      onUp: () => this.#known.get(name)?.engine.resume(),
      onFlood: () => this.#cutOff(name),
    });
    this.#lines.set(name, line);
    void line.open().catch(() => line.close());
  }

  /** Its links end, so its turns run here; the server throws away what it sends on. */
  #cutOff(name: string): void {
    this.#lines.delete(name);
    const known = this.#of(name);
    known.lastSeenAt = Number.NEGATIVE_INFINITY;
    known.engine.close('it sends too much');
    const minutes = this.#state.cutOff(name, this.#parts.now());
    const text = `${name} sends far more than a worker has reason to, and is cut off for ${minutes} min. Its chats run here meanwhile.`;
    this.#parts.onProgress(text);
    this.#parts.onTrouble(
      `${text} If you do not know why, say \`/far remove ${name}\`; \`/far undrain ${name}\` lets it in at once.`,
    );
  }

  /** A command of the owner's that fails is run again at the next tick, and told once. */
  async #apply(config: string): Promise<void> {
    this.#isApplying = true;
    const problem = await this.#state.apply();
    this.#isApplying = false;
    if (problem === null) this.#config = config;
    else if (problem !== this.#applyProblem) {
      this.#parts.onProgress(
        `the server of other machines was not told who may join or was taken out (${problem}); it is tried again`,
      );
    }
    this.#applyProblem = problem;
  }

  #of(name: string): Known {
    const known = this.#known.get(name) ?? {
      engine: this.#parts.openEngine({
        machine: name,
        description: `another machine, ${name}`,
        patienceMs: this.#parts.patienceMs,
        filesLimit: this.#parts.filesLimit,
        openPipe: (folder, fence) => this.#pipe(name, folder, fence),
      }),
      alive: null,
      lastSeenAt: 0,
      waitsSince: null,
      isToldOfWaiting: false,
    };
    this.#known.set(name, known);
    return known;
  }

  #pipe(machine: string, folder: string, fence: number) {
    const subject = subjects.up(machine, folder, fence);
    return {
      send: (message: Buffer) =>
        // After a cut-off its links still say that they end.
        (this.#lines.get(machine) ?? this.#connection)?.publish(
          subjects.down(machine, folder, fence),
          message,
        ),
      listen: (handler: (message: Buffer) => boolean) => {
        this.#chats.set(subject, handler);
        return () => void this.#chats.delete(subject);
      },
    };
  }

  #acceptPresence(name: string, kind: 'alive' | 'leaving', message: Buffer): void {
    if (!this.#state.read().machines.some((one) => one.name === name)) return;
    if (kind === 'leaving') {
      this.#of(name).lastSeenAt = Number.NEGATIVE_INFINITY;
      this.#parts.onProgress(`${name} is being stopped`);
      return;
    }
    const alive = readAlive(message);
    if (alive === null) return;
    const known = this.#of(name);
    const wasAway = known.alive === null || this.#parts.now() - known.lastSeenAt > AWAY_MS;
    const isAnother = known.alive?.boot !== alive.boot;
    known.alive = alive;
    known.lastSeenAt = this.#parts.now();
    if (wasAway || isAnother) {
      this.#parts.onProgress(
        `${name} is here: ${(alive.waits && waitsText(name, alive.waits)) ?? alive.description}`,
      );
      known.engine.resume();
    }
    this.#noteWaiting(name, known, alive.waits);
    const machine = this.list().find((one) => one.name === name);
    if (machine !== undefined) this.#parts.onFilesLeft(machine, alive.folders);
  }

  /** A machine whose Docker starts later than its worker waits a moment, which is no news. */
  #noteWaiting(name: string, known: Known, waits: Alive['waits']): void {
    known.waitsSince = waits === null ? null : (known.waitsSince ?? this.#parts.elapsed());
    if (waits === null || known.waitsSince === null || known.isToldOfWaiting) return;
    if (this.#parts.elapsed() - known.waitsSince < WAITING_MS) return;
    known.isToldOfWaiting = true;
    // Once, and without its own words: it could tell anything.
    this.#parts.onTrouble(
      `${name} runs no agents: they ran in a stronger sandbox before, which does not answer there. Start that again, or say \`/far sandbox ${name} ${waits.engine}\` to let them run in ${waits.engine}. Its chats run here meanwhile.`,
    );
  }

  /** A worker whose number is not the present one is told so, and ends what it still runs. */
  #tellOutdated({ machine, folder, fence }: ChatSubject, message: Buffer): void {
    if (isEndMessage(message)) return;
    const end = endMessage(fence, 'it is outdated');
    this.#lines.get(machine)?.publish(subjects.down(machine, folder, fence), end);
  }

  async #enrol(subject: string, message: Buffer): Promise<void> {
    const name = subject.split('.')[2] ?? '';
    const key = message.toString('utf8', 0, 100);
    if (!this.#state.enrol(name, key, this.#parts.now())) return;
    this.#connection?.publish(`far.enrolled.${name}`, key);
    await this.#connection?.flush().catch(() => {});
    // From here on the code is worth nothing.
    this.#tick();
    this.#parts.onProgress(`${name} has joined`);
  }
}
