import { readdirSync, readFileSync } from 'node:fs';
import { execa } from 'execa';
import type { Usage } from './limits.ts';

/** A process as the system lists it. */
type ProcessUsage = {
  readonly pid: number;
  readonly parent: number;
  /** CPU time of the process and of its children that have ended. */
  readonly cpuMs: number;
  readonly tasks: number;
  readonly isRunnable: boolean;
  readonly memoryBytes: number;
};

/** The processes that a command has become. */
export type Family = {
  /** Looks at what they use now; null where the system tells nothing, or none is left. */
  readonly use: () => Promise<Usage | null>;
  /** Confirms a use of memory: pages that several share count once. Takes longer. */
  readonly memoryBytes: () => number;
  /** Ids of those that were seen and may still run, also if they have left the command's tree. */
  readonly pids: () => readonly number[];
};

/**
 * Follows a process and all its descendants. A process whose parent has ended is still followed if it was seen
 * before.
 */
export function familyOf(
  pid: number,
  list: () => Promise<readonly ProcessUsage[]> = listProcesses,
): Family {
  const known = new Set([pid]);
  let cpuMs = 0;
  let lastMs = 0;
  let isLower = false;
  let members: readonly ProcessUsage[] = [];
  return {
    use: async () => {
      members = membersOf(known, await list());
      if (members.length === 0) return null;
      known.clear();
      for (const member of members) known.add(member.pid);
      const nowMs = sum(members, (member) => member.cpuMs);
      cpuMs += Math.max(0, nowMs - lastMs);
      // The time of a child that nobody waits for is lost when it ends. A look at a child that is just ending may
      // miss its time as well, and the next one finds it with its parent: that is not counted again.
      if (nowMs >= lastMs || isLower) lastMs = nowMs;
      isLower = nowMs < lastMs;
      return {
        cpuMs,
        memoryBytes: sum(members, (member) => member.memoryBytes),
        tasks: sum(members, (member) => member.tasks),
        isRunnable: members.some((member) => member.isRunnable),
      };
    },
    memoryBytes: () => sum(members, ({ pid, memoryBytes }) => sharedOnce(pid) ?? memoryBytes),
    pids: () => [...known],
  };
}

function membersOf(
  roots: ReadonlySet<number>,
  all: readonly ProcessUsage[],
): readonly ProcessUsage[] {
  const below = Map.groupBy(all, ({ parent }) => parent);
  const found = new Set(all.filter(({ pid }) => roots.has(pid)));
  for (const one of found) for (const child of below.get(one.pid) ?? []) found.add(child);
  return [...found];
}

function sum<T>(list: readonly T[], of: (one: T) => number): number {
  return list.reduce((total, one) => total + of(one), 0);
}

/** Lists the processes of this machine: from /proc, or as `ps` prints them. */
export async function listProcesses(): Promise<readonly ProcessUsage[]> {
  return process.platform === 'linux' ? fromProc() : await fromPs();
}

/** Linux counts the time of a process in hundredths of a second. */
const TICK_MS = 10;

function fromProc(): readonly ProcessUsage[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const stat = readOrNull(`/proc/${name}/stat`);
    if (stat === null) return [];
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const number = (at: number) => Number(fields[at] ?? 0);
    const cpuTicks = number(11) + number(12) + number(13) + number(14);
    const pid = Number(name);
    return [
      {
        pid,
        parent: number(1),
        cpuMs: cpuTicks * TICK_MS,
        tasks: number(17),
        isRunnable: fields[0] === 'R' || fields[0] === 'D',
        // Is read only of those that count.
        get memoryBytes() {
          return ownMemory(pid);
        },
      },
    ];
  });
}

/** Returns the memory of a process that no file on disk could give back. */
function ownMemory(pid: number): number {
  const status = readOrNull(`/proc/${pid}/status`) ?? '';
  return kilobytes(status, 'RssAnon') + kilobytes(status, 'RssShmem') + kilobytes(status, 'VmSwap');
}

function sharedOnce(pid: number): number | null {
  const rollup = readOrNull(`/proc/${pid}/smaps_rollup`);
  if (rollup === null || !rollup.includes('Pss_Anon:')) return null;
  return (
    kilobytes(rollup, 'Pss_Anon') + kilobytes(rollup, 'Pss_Shmem') + kilobytes(rollup, 'SwapPss')
  );
}

function kilobytes(text: string, key: string): number {
  return Number(new RegExp(`^${key}:\\s*(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null; // It has ended since, or is not ours to look at.
  }
}

async function fromPs(): Promise<readonly ProcessUsage[]> {
  const args = ['-A', '-o', 'pid=,ppid=,stat=,rss=,time='];
  const { stdout = '', failed } = await execa('ps', args, { reject: false, stdin: 'ignore' });
  return failed ? [] : parsePs(stdout);
}

/** Parses what `ps -A -o pid=,ppid=,stat=,rss=,time=` prints on macOS and Linux. */
export function parsePs(text: string): readonly ProcessUsage[] {
  const line = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\d+)\s+(?:(\d+)-)?([\d:.]+)\s*$/;
  return text.split('\n').flatMap((row) => {
    const [, pid, parent, state = '', kilobytes, days = '0', clock = '0'] = line.exec(row) ?? [];
    if (pid === undefined) return [];
    const seconds = clock.split(':').reduce((total, part) => total * 60 + Number(part), 0);
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        cpuMs: Math.round((Number(days) * 86_400 + seconds) * 1000),
        tasks: 1,
        isRunnable: /^[RUD]/.test(state),
        memoryBytes: Number(kilobytes) * 1024,
      },
    ];
  });
}
