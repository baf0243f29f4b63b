import { lstatSync, statfsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ProofLimits } from '../installed/config.ts';
import { judge, NOTHING_WATCHED, type Stop, type Usage } from './limits.ts';
import { familyOf } from './process-usage.ts';

const LOOK_MS = 250;
const MB = 1024 * 1024;
/** The watch takes at most a twentieth of a core, also with very many processes or files. */
const SHARE = 20;
/** Free room that may go before the files of a view are counted again at once. */
const NOTICED_BYTES = 64 * MB;
const KILLS = 20;
/** Folders in memory that bubblewrap gives a command. */
const SCRATCH = ['tmp', 'dev/shm'];

/** A command that runs, and what ends it. */
export type WatchedCommand = {
  readonly view: string;
  readonly limits: ProofLimits;
  /** Room that the view took when it was laid out; null to count it at the first look. */
  readonly viewBytes: number | null;
  readonly parts: number;
  /** The caller's budget of time; null for none. */
  readonly timeoutMs: number | null;
  readonly pid: number | undefined;
  /** The first process inside bubblewrap; null where there is no bubblewrap. */
  readonly inner: Promise<number | null> | null;
  readonly kill: () => Promise<void>;
};

/** The watch of a command. */
export type CommandWatch = {
  /** Is called when the command prints. */
  readonly hasPrinted: () => void;
  /** Ends the watch. Returns the limit that the command was stopped at, or that it ran into by itself. */
  readonly end: () => Promise<Stop | null>;
};

/**
 * Looks at a running command several times a second and kills it at the first limit that it passes. Memory and
 * processes are counted over everything that the command started, and files over the whole view.
 */
export function watchCommand(command: WatchedCommand): CommandWatch {
  const { limits, parts, timeoutMs, pid } = command;
  let stop: Stop | null = null;
  let hasPrinted = false;
  let watched = NOTHING_WATCHED;
  const ended = new AbortController();
  const family = pid === undefined ? null : familyOf(pid);
  const written = filesOf(command, ended.signal);

  const stopAt = async (reached: Stop): Promise<void> => {
    stop = reached;
    await command.kill();
    // Without a namespace of processes, some may have left the group.
    for (let round = 0; command.inner === null && round < KILLS; round += 1) {
      if ((await family?.use()) == null) break;
      for (const one of family?.pids() ?? []) killQuietly(one);
      await wait(10);
    }
  };

  const look = async (passedMs: number): Promise<void> => {
    const used = await family?.use();
    if (used == null || stop !== null || ended.signal.aborted) return;
    const scratch = await scratchUse(command.inner);
    const bytes = used.memoryBytes + scratch.usedBytes;
    // Pages that processes share were counted for each of them.
    const isMuch = bytes > limits.memory_mb * MB;
    const memoryBytes = isMuch ? (family?.memoryBytes() ?? 0) + scratch.usedBytes : bytes;
    const usage: Usage = { ...used, memoryBytes };
    const files = written.look();
    const judged = judge(
      watched,
      {
        passedMs,
        hasPrinted,
        usage,
        writtenBytes: files.writtenBytes + scratch.usedBytes,
        mayWriteBytes: scratch.isFull ? scratch.usedBytes - 1 : files.mayWriteBytes,
      },
      limits,
      parts,
    );
    hasPrinted = false;
    watched = judged.watched;
    if (judged.stop !== null) await stopAt(judged.stop);
  };

  const looking = (async () => {
    let betweenMs = LOOK_MS;
    while (!ended.signal.aborted && stop === null) {
      await wait(betweenMs, undefined, { signal: ended.signal }).catch(() => null);
      if (ended.signal.aborted) return;
      const start = performance.now();
      // A look that comes late is this process's own delay, not the command's silence.
      await look(betweenMs);
      betweenMs = Math.max(LOOK_MS, (performance.now() - start) * SHARE);
    }
  })();
  const timer =
    timeoutMs === null
      ? null
      : setTimeout(() => {
          const text = `It did not end within ${timeoutMs / 1000} s.`;
          if (stop === null) void stopAt({ limit: 'time', text });
        }, timeoutMs);
  return {
    hasPrinted: () => {
      hasPrinted = true;
    },
    end: async () => {
      if (timer !== null) clearTimeout(timer);
      ended.abort();
      await looking;
      return stop ?? (await written.last(limits));
    },
  };
}

type WriteCounts = { readonly writtenBytes: number; readonly mayWriteBytes: number };

/** Counts what a command writes into its view. Other programs may use the same disk, so free room is only a hint. */
function filesOf({ view, limits, viewBytes }: WatchedCommand, signal: AbortSignal) {
  const freeAtStart = freeBytes(view);
  const mayWriteBytes = freeAtStart / 2;
  let first = viewBytes;
  let counted: number | null = null;
  let freeAtCount = freeAtStart;
  let again = 0;
  let isCounting = false;
  const most = Math.min(limits.disk_mb * MB, mayWriteBytes);
  const count = async () => {
    isCounting = true;
    const start = performance.now();
    freeAtCount = freeBytes(view);
    // What is there at the beginning is the project itself.
    const enough = first === null ? Number.POSITIVE_INFINITY : first + most;
    counted = await sizeOf(view, enough);
    first ??= counted;
    const now = performance.now();
    again = now + Math.max(2000, (now - start) * SHARE);
    isCounting = false;
  };
  const result = (): WriteCounts => ({
    writtenBytes: (counted ?? first ?? 0) - (first ?? 0),
    mayWriteBytes,
  });
  return {
    look: (): WriteCounts => {
      const isNoticed = freeAtCount - freeBytes(view) > NOTICED_BYTES;
      const isDue = counted === null || isNoticed || performance.now() >= again;
      if (isDue && !isCounting && !signal.aborted) void count();
      return result();
    },
    /** Counts once more where a command may have filled its room and ended by itself. */
    last: async (all: ProofLimits): Promise<Stop | null> => {
      if (first === null || freeAtStart - freeBytes(view) < Math.min(most / 2, NOTICED_BYTES))
        return null;
      await count();
      const usage = { cpuMs: 0, memoryBytes: 0, tasks: 0, isRunnable: true };
      const look = { passedMs: 0, hasPrinted: true, usage, ...result() };
      return judge(NOTHING_WATCHED, look, all, 1).stop;
    },
  };
}

/** Adds up the blocks below a folder, up to `enough`. Follows no link. */
async function sizeOf(folder: string, enough: number): Promise<number> {
  let bytes = 0;
  const waiting = [folder];
  for (let path = waiting.pop(); path !== undefined && bytes <= enough; path = waiting.pop()) {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const place = join(path, entry.name);
      if (entry.isDirectory()) waiting.push(place);
      const stat = await lstat(place).catch(() => null);
      // A file without blocks of its own takes room as well.
      if (stat !== null) bytes += Math.max(stat.blocks * 512, 512);
    }
  }
  return bytes;
}

/** Looks from outside at the scratch folders in memory of a command in bubblewrap. */
async function scratchUse(
  inner: Promise<number | null> | null,
): Promise<{ readonly usedBytes: number; readonly isFull: boolean }> {
  const pid = await inner;
  const uses =
    pid === null ? [] : SCRATCH.flatMap((name) => useOf(`/proc/${pid}/root/${name}`, `/${name}`));
  return {
    usedBytes: uses.reduce((sum, { usedBytes }) => sum + usedBytes, 0),
    isFull: uses.some(({ usedBytes, allBytes }) => usedBytes > allBytes * 0.95),
  };
}

function useOf(place: string, ours: string) {
  try {
    // Until bubblewrap has changed its root, this is the folder of the machine itself.
    if (lstatSync(place).dev === lstatSync(ours).dev) return [];
    const { blocks, bfree, bsize } = statfsSync(place);
    return [{ usedBytes: (blocks - bfree) * bsize, allBytes: blocks * bsize }];
  } catch {
    return []; // It has ended, or this kernel shows nothing of it.
  }
}

function freeBytes(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return Number.POSITIVE_INFINITY; // It will fail by itself.
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
