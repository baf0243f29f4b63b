import type { ProofLimits } from '../installed/config.ts';

/** A limit at which a command was stopped; `time` is the caller's own budget and not a setting. */
export type StopLimit = 'silence' | 'cpu' | 'memory' | 'processes' | 'disk' | 'time';

/** The reason why a command was stopped before its end. */
export type Stop = {
  readonly limit: StopLimit;
  /** A sentence for the owner: what the command did, and the setting. */
  readonly text: string;
};

/** The resources that a command and all its processes use at one moment. */
export type Usage = {
  /** CPU time so far, of ended processes too, in milliseconds. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  /** One of its processes has work, and waits for nothing but a core or the disk. */
  readonly isRunnable: boolean;
};

/** The state that a watch keeps between two measurements. */
export type Watched = {
  readonly silentMs: number;
  /** CPU time when it last counted as progress, and at the last output. */
  readonly cpuAtProgressMs: number;
  readonly cpuAtOutputMs: number;
};

export const NOTHING_WATCHED: Watched = { silentMs: 0, cpuAtProgressMs: 0, cpuAtOutputMs: 0 };

/** CPU time that counts as progress, as a part of the silence that is allowed. A timer that ticks uses less. */
const PROGRESS = 0.01;
const MB = 1024 * 1024;

/**
 * Judges one measurement of a running command.
 *
 * A command is silent while it prints nothing, uses almost no CPU time and has no process that waits for a core: on a
 * busy machine, a command that gets no CPU time is not hung. CPU time is limited since the last output, and in total
 * to `parts` times as much, so a hang is found soon among the tests of many skills.
 *
 * @param look `passedMs` is the time since the last look; a look that comes late counts as one that came in time
 */
export function judge(
  before: Watched,
  look: {
    readonly passedMs: number;
    readonly hasPrinted: boolean;
    readonly usage: Usage;
    readonly writtenBytes: number;
    /** The space that it may fill, if the machine has less free than the setting allows. */
    readonly mayWriteBytes: number;
  },
  limits: ProofLimits,
  parts: number,
): { readonly watched: Watched; readonly stop: Stop | null } {
  const { usage, hasPrinted } = look;
  const silenceMs = limits.silence_seconds * 1000;
  const isProgress = usage.cpuMs - before.cpuAtProgressMs >= silenceMs * PROGRESS;
  const isAlive = hasPrinted || isProgress;
  const waited = usage.isRunnable ? 0 : look.passedMs;
  const watched = {
    silentMs: isAlive ? 0 : before.silentMs + waited,
    cpuAtProgressMs: isAlive ? usage.cpuMs : before.cpuAtProgressMs,
    cpuAtOutputMs: hasPrinted ? usage.cpuMs : before.cpuAtOutputMs,
  };
  const cpuMs = limits.cpu_seconds * 1000;
  const isOver = {
    memory: usage.memoryBytes > limits.memory_mb * MB,
    processes: usage.tasks > limits.processes,
    disk: look.writtenBytes > Math.min(limits.disk_mb * MB, look.mayWriteBytes),
    cpu: usage.cpuMs - watched.cpuAtOutputMs > cpuMs || usage.cpuMs > cpuMs * parts,
    silence: watched.silentMs >= silenceMs,
  };
  const limit = (['disk', 'memory', 'processes', 'cpu', 'silence'] as const).find(
    (name) => isOver[name],
  );
  if (limit === undefined) return { watched, stop: null };
  const isShort = look.mayWriteBytes < limits.disk_mb * MB;
  const text = {
    memory: `It used more than ${limits.memory_mb} MB of memory (limits.memory_mb).`,
    processes: `It ran more than ${limits.processes} processes and threads at once (limits.processes).`,
    disk: isShort
      ? `It wrote more than ${Math.floor(look.mayWriteBytes / MB)} MB, all that this machine can spare for it.`
      : `It wrote more than ${limits.disk_mb} MB (limits.disk_mb).`,
    cpu:
      usage.cpuMs > cpuMs * parts && parts > 1
        ? `It used more than ${limits.cpu_seconds} s of CPU time for each of its ${parts} parts (limits.cpu_seconds).`
        : `It used more than ${limits.cpu_seconds} s of CPU time without an end (limits.cpu_seconds).`,
    silence: `It printed nothing and did nothing for ${limits.silence_seconds} s (limits.silence_seconds).`,
  }[limit];
  return { watched, stop: { limit, text } };
}
