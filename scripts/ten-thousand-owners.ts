/**
 * Simulates a day of many owners, one instance each, from recorded costs: how many machines they need, what an idle owner
 * costs, and what runs out first. Nothing is started; the same seed gives the same day.
 *
 *     npx node scripts/ten-thousand-owners.ts [--owners 10000] [--seed 1]
 *
 * docs/decisions/ten-thousand-owners.md says which figures were measured and which are assumed.
 */
import { parseArgs } from 'node:util';

/** What one instance costs; figures that are measured come first. */
export type OwnerCosts = {
  /** Private memory of an idle instance: supervisor and assistant. */
  readonly idleMb: number;
  /** Pages of Node's files, once for each machine. */
  readonly sharedMb: number;
  /** Memory of an agent's container. */
  readonly agentMb: number;
  /** Processor time of a start until the channels are connected. */
  readonly startCpuS: number;
  /** Processor time of a turn, container and host, without the model's own. */
  readonly turnCpuS: number;
  /** Durable writes of a message and its turn, and how long the disk takes for each. */
  readonly writesPerMessage: number;
  readonly writeMs: number;
  readonly bytesPerMessage: number;
  /** Of a fresh instance, its caches in it. */
  readonly freshMb: number;
  /** Packages and code: once for each machine, in the image. */
  readonly imageMb: number;
};

/** What people do; all of it is assumed. */
export type OwnerHabits = {
  /** Median of an owner's messages a day; the spread is log-normal with this sigma. */
  readonly messagesADay: number;
  readonly sigma: number;
  readonly turnS: number;
  /** An agent's container stays for so long after its turn. */
  readonly agentIdleS: number;
  /** Share of owners with a task at eight in the morning. */
  readonly morningTask: number;
  /** Tasks of the morning are spread over so many seconds; 0 for the same moment. */
  readonly morningSpreadS: number;
  /** Share of owners whose channel needs the running instance, such as WhatsApp: nothing else can hear for it. */
  readonly alwaysOn: number;
  /** Files, media and backups of an owner. */
  readonly filesMb: number;
  /** Years of messages that are kept. */
  readonly years: number;
};

export type MachineSize = {
  readonly cores: number;
  /** Share of the cores that may be busy. */
  readonly usableCpu: number;
  readonly memoryMb: number;
  readonly usableMemory: number;
  readonly diskGb: number;
  readonly euroAMonth: number;
};

/** How instances run: always, or stopped when idle and woken by a message. */
export type OwnerPolicy = { readonly stopAfterS: number | null };

export const COSTS: OwnerCosts = {
  idleMb: 97,
  sharedMb: 62,
  agentMb: 90,
  startCpuS: 1.6,
  turnCpuS: 1,
  writesPerMessage: 4,
  writeMs: 0.6,
  bytesPerMessage: 185,
  freshMb: 20,
  imageMb: 640,
};

export const HABITS: OwnerHabits = {
  messagesADay: 12,
  sigma: 1.2,
  turnS: 20,
  agentIdleS: 300,
  morningTask: 0.3,
  morningSpreadS: 0,
  alwaysOn: 0.4,
  filesMb: 200,
  years: 3,
};

export const MACHINE: MachineSize = {
  cores: 8,
  usableCpu: 0.7,
  memoryMb: 32 * 1024,
  usableMemory: 0.85,
  diskGb: 500,
  euroAMonth: 40,
};

const RESOURCES = ['memory', 'disk', 'writes', 'processor'] as const;
export type Resource = (typeof RESOURCES)[number];

export type OwnersDay = {
  /** Machines that each resource needs for itself. */
  readonly machines: Readonly<Record<Resource, number>>;
  /** The resource that runs out first. */
  readonly bottleneck: Resource;
  readonly needed: number;
  readonly peakRunning: number;
  readonly averageRunning: number;
  readonly peakMemoryGb: number;
  readonly starts: number;
  readonly messages: number;
  /** How long an instance takes to be there for its message, with so many machines: starts wait for a core. */
  readonly wakeS: { readonly p50: number; readonly p99: number; readonly worst: number };
  readonly euroAnOwnerAMonth: number;
  /** What one more owner costs who writes nothing. */
  readonly euroAnIdleOwnerAMonth: number;
};

const DAY_S = 86_400;
const EIGHT_S = 8 * 3_600;
/** Peaks are those of a second day: on the first one everybody starts stopped. */
const DAYS = 2;
/** A start may wait so long for a core at the 99th percentile. */
const WAKE_P99_S = 15;

/** Simulates a day. Pure: the seed is its only source of chance. */
export function simulateOwners(options: {
  readonly owners: number;
  readonly seed: number;
  readonly policy: OwnerPolicy;
  readonly costs?: OwnerCosts;
  readonly habits?: OwnerHabits;
  readonly machine?: MachineSize;
}): OwnersDay {
  const { owners, seed, policy, costs = COSTS, habits = HABITS, machine = MACHINE } = options;
  const chance = randomFrom(seed);
  const day = dayOf(owners, chance, habits, policy);
  const peak = peaks(day, costs, owners);

  const forMemory = machine.memoryMb * machine.usableMemory - costs.sharedMb;
  const diskMb = owners * (costs.freshMb + habits.filesMb) + storedMb(day.messages, costs, habits);
  const forDisk = machine.diskGb * 1_000 - costs.imageMb;
  const writeS = peak.messagesInTheBusiestMinute * costs.writesPerMessage * (costs.writeMs / 1_000);
  const byMemory = Math.max(1, Math.ceil(peak.memoryMb / forMemory));
  const byOthers = {
    memory: byMemory,
    disk: Math.max(1, Math.ceil(diskMb / forDisk)),
    // One disk writes one after the other; half of the time is for everything else.
    writes: Math.max(1, Math.ceil(writeS / 30)),
  };
  const coresOf = machine.cores * machine.usableCpu;
  const turnsCpu = (peak.messagesInTheBusiestMinute * costs.turnCpuS) / 60;
  const processor = Math.max(
    Math.ceil(turnsCpu / coresOf),
    machinesForStarts(day.startsAt, costs, coresOf),
  );
  const machines = { ...byOthers, processor: Math.max(1, processor) };
  const needed = Math.max(...RESOURCES.map((one) => machines[one]));
  const bottleneck = RESOURCES.find((one) => machines[one] === needed) ?? 'memory';
  const idleMb =
    policy.stopAfterS === null
      ? costs.idleMb
      : costs.idleMb * (habits.alwaysOn + (1 - habits.alwaysOn) * taskShare(habits, policy));
  return {
    machines,
    bottleneck,
    needed,
    peakRunning: peak.running,
    averageRunning: day.runningS / (DAYS * DAY_S),
    peakMemoryGb: peak.memoryMb / 1_024,
    starts: Math.round(day.startsAt.length / DAYS),
    messages: Math.round(day.messages / DAYS),
    wakeS: wakeTimes(day.startsAt, costs, coresOf * needed),
    euroAnOwnerAMonth: (needed * machine.euroAMonth) / owners,
    euroAnIdleOwnerAMonth:
      (idleMb / forMemory + (costs.freshMb + habits.filesMb) / forDisk) * machine.euroAMonth,
  };
}

/** Share of the day that a stopped owner's task keeps an instance up. */
function taskShare({ morningTask, turnS }: OwnerHabits, { stopAfterS }: OwnerPolicy): number {
  return (morningTask * (turnS + (stopAfterS ?? 0))) / DAY_S;
}

type Day = {
  /** Seconds at which an instance starts, in order. */
  readonly startsAt: readonly number[];
  /** Changes of the number of instances and of agents' containers: second, instances, agents, messages. */
  readonly changes: readonly (readonly [number, number, number, number])[];
  readonly messages: number;
  readonly runningS: number;
};

function dayOf(
  owners: number,
  chance: () => number,
  habits: OwnerHabits,
  policy: OwnerPolicy,
): Day {
  const changes: [number, number, number, number][] = [];
  const startsAt: number[] = [];
  let messages = 0;
  let runningS = 0;
  for (let owner = 0; owner < owners; owner += 1) {
    const isAlwaysOn = policy.stopAfterS === null || chance() < habits.alwaysOn;
    const at = momentsOf(chance, habits);
    messages += at.length;
    for (const second of at) changes.push([second, 0, 0, 1]);
    for (const [from, to] of spansOf(at, habits.turnS + habits.agentIdleS)) {
      changes.push([from, 0, 1, 0], [to, 0, -1, 0]);
    }
    const spans: readonly (readonly [number, number])[] = isAlwaysOn
      ? [[0, DAYS * DAY_S]]
      : spansOf(at, habits.turnS + (policy.stopAfterS ?? 0));
    for (const [from, to] of spans) {
      changes.push([from, 1, 0, 0], [to, -1, 0, 0]);
      runningS += Math.min(to, DAYS * DAY_S) - from;
      if (!isAlwaysOn) startsAt.push(from);
    }
  }
  changes.sort(([one], [other]) => one - other);
  startsAt.sort((one, other) => one - other);
  return { startsAt, changes, messages, runningS };
}

/** Returns the seconds at which something is to be done for an owner, in order. */
function momentsOf(chance: () => number, habits: OwnerHabits): readonly number[] {
  const aDay = habits.messagesADay * Math.exp(habits.sigma * gauss(chance));
  const hasTask = chance() < habits.morningTask;
  const found: number[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    for (let left = poisson(aDay, chance); left > 0; left -= 1) {
      found.push(day * DAY_S + secondOfDay(chance));
    }
    const spread = Math.floor(chance() * habits.morningSpreadS);
    if (hasTask) found.push(day * DAY_S + EIGHT_S + spread);
  }
  return found.sort((one, other) => one - other);
}

/** Joins moments into the spans during which something is up that stays for so long after each. */
function spansOf(at: readonly number[], staysS: number): readonly (readonly [number, number])[] {
  const spans: [number, number][] = [];
  for (const second of at) {
    const last = spans.at(-1);
    if (last !== undefined && second <= last[1]) last[1] = second + staysS;
    else spans.push([second, second + staysS]);
  }
  return spans;
}

function peaks({ changes }: Day, costs: OwnerCosts, owners: number) {
  let [running, agents, runningPeak, memoryMb] = [0, 0, 0, 0];
  const perMinute = new Map<number, number>();
  for (const [second, instances, containers, messages] of changes) {
    running += instances;
    agents += containers;
    const minute = Math.floor(second / 60);
    if (messages > 0) perMinute.set(minute, (perMinute.get(minute) ?? 0) + messages);
    runningPeak = Math.max(runningPeak, Math.min(running, owners));
    memoryMb = Math.max(memoryMb, running * costs.idleMb + agents * costs.agentMb);
  }
  const messagesInTheBusiestMinute = [...perMinute.values()].reduce((a, b) => Math.max(a, b), 0);
  return { running: runningPeak, memoryMb, messagesInTheBusiestMinute };
}

/** Returns how many machines let starts wait little enough. */
function machinesForStarts(startsAt: readonly number[], costs: OwnerCosts, cores: number): number {
  let [low, high] = [1, 1];
  const isEnough = (machines: number) =>
    wakeTimes(startsAt, costs, cores * machines).p99 <= WAKE_P99_S;
  while (!isEnough(high)) high *= 2;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns how long starts take with so many cores for all: each needs one for its time, first come, first served. */
function wakeTimes(startsAt: readonly number[], { startCpuS }: OwnerCosts, cores: number) {
  const all = Math.max(1, Math.floor(cores));
  const freeAt = new Float64Array(all);
  // Every start takes the same time, so cores become free in the order in which they were taken.
  const times = startsAt.map((second, index) => {
    const core = index % all;
    const begins = Math.max(second, freeAt[core] ?? 0);
    freeAt[core] = begins + startCpuS;
    return begins + startCpuS - second;
  });
  times.sort((one, other) => one - other);
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), worst: times.at(-1) ?? 0 };
}

function storedMb(
  messages: number,
  { bytesPerMessage }: OwnerCosts,
  { years }: OwnerHabits,
): number {
  return ((messages / DAYS) * 365 * years * bytesPerMessage) / 1_000_000;
}

/** From seven to twenty-three, most in the evening. */
function secondOfDay(chance: () => number): number {
  const hours = 7 + 16 * Math.max(chance(), chance() * chance());
  return Math.floor(hours * 3_600);
}

function poisson(mean: number, chance: () => number): number {
  if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * gauss(chance)));
  let [count, product] = [0, chance()];
  for (const least = Math.exp(-mean); product > least; count += 1) product *= chance();
  return count;
}

function gauss(chance: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - chance())) * Math.cos(2 * Math.PI * chance());
}

/** Mulberry32: from 0 to below 1. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      owners: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [owners, seed] = [Number(values.owners), Number(values.seed)];
  const cases: readonly [string, OwnerPolicy, OwnerHabits][] = [
    ['always on', { stopAfterS: null }, HABITS],
    ['stopped after 15 minutes', { stopAfterS: 900 }, HABITS],
    [
      'the same, tasks spread over 10 minutes',
      { stopAfterS: 900 },
      { ...HABITS, morningSpreadS: 600 },
    ],
    [
      'the same, and every channel can wake',
      { stopAfterS: 900 },
      { ...HABITS, morningSpreadS: 600, alwaysOn: 0 },
    ],
  ];
  for (const [name, policy, habits] of cases) {
    const day = simulateOwners({ owners, seed, policy, habits });
    const { machines, wakeS } = day;
    console.log(`${name}: ${day.needed} machines, first bottleneck ${day.bottleneck}`);
    console.log(`  machines by ${RESOURCES.map((one) => `${one} ${machines[one]}`).join(', ')}`);
    console.log(
      `  running: ${day.peakRunning} at most, ${day.averageRunning.toFixed(0)} on average, ${day.peakMemoryGb.toFixed(0)} GB at most`,
    );
    console.log(
      `  ${day.messages} messages and ${day.starts} starts a day; a start takes ${wakeS.p50.toFixed(1)} s, p99 ${wakeS.p99.toFixed(1)} s, worst ${wakeS.worst.toFixed(1)} s`,
    );
    console.log(
      `  ${day.euroAnOwnerAMonth.toFixed(2)} € an owner a month, ${day.euroAnIdleOwnerAMonth.toFixed(2)} € an idle one`,
    );
  }
}
