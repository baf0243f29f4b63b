/**
 * Measures the messages per second that the host stores, each on disk before its channel may acknowledge it:
 * with ten groups and a new store, and with 1,000 groups and a million stored messages, interleaved.
 *
 *     npx node scripts/bench/ingest.ts
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/store.ts';
import { answers, startAssistant, type TestAssistant } from '../../src/testing/assistant.ts';

/** Groups and messages in the store before the first message that counts. */
export type Scale = { readonly groups: number; readonly stored: number };

/** Messages per second that one store takes. */
export type Intake = {
  /** As fast as it can. */
  readonly perSecond: number;
  /** Seconds until all messages of two seconds at the rate of the goal are stored. */
  readonly pacedSeconds: number;
  /** Time from a message's arrival to the disk. */
  readonly p50Ms: number;
  readonly p99Ms: number;
};

export type IngestBench = {
  readonly small: Intake & Scale;
  readonly large: Intake & Scale;
  /** Time of the large one by that of the small one, at the rate of the goal. */
  readonly ratio: number;
};

const SMALL: Scale = { groups: 10, stored: 1_000 };
const LARGE: Scale = { groups: 1_000, stored: 1_000_000 };
const ROUND_MESSAGES = 5_000;
const PACED_SECONDS = 2;
/** Messages that wait for their word at the same time, as from a few busy channels. */
const IN_FLIGHT = 256;
const CALLS_EACH = 50;
const GOAL_PER_SECOND = 5_000;
const PREFILL_AT_ONCE = 50_000;

export type IngestPlan = {
  readonly small: Scale;
  readonly large: Scale;
  readonly rounds: number;
  /** The rate at which messages arrive when it is not as fast as can be. */
  readonly perSecond: number;
};

const GOAL: IngestPlan = { small: SMALL, large: LARGE, rounds: 5, perSecond: GOAL_PER_SECOND };

if (import.meta.main) printIngest(await benchIngest());

/** Prints a measurement with its goals. */
export function printIngest(found: IngestBench): void {
  console.log(`ingest, every message durable, one in ${CALLS_EACH} calls the agent`);
  for (const { groups, stored, perSecond, p50Ms, p99Ms } of [found.small, found.large]) {
    console.log(
      `  ${groups} groups, ${stored} stored: ${perSecond.toFixed(0)} messages/s, goal ` +
        `${GOAL_PER_SECOND}; at that rate a message takes ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`,
    );
  }
  console.log(`  large by small at ${GOAL_PER_SECOND}/s: ${found.ratio.toFixed(2)}, goal 1.00`);
}

/** Measures both interleaved, so that a busy machine slows both. */
export async function benchIngest(plan: IngestPlan = GOAL): Promise<IngestBench> {
  const { small, large, rounds, perSecond } = plan;
  await using one = await openIntake(small);
  await using other = await openIntake(large);
  const took = { small: [] as number[], large: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const times = { small: await one.flood(), large: await other.flood() };
    if (round === 0) continue; // The first one warms up what every later one finds.
    took.small.push(times.small);
    took.large.push(times.large);
  }
  const rate = (times: readonly number[]) => (ROUND_MESSAGES * 1_000) / median(times);
  const found = {
    small: { ...small, perSecond: rate(took.small), ...(await one.paced(perSecond)) },
    large: { ...large, perSecond: rate(took.large), ...(await other.paced(perSecond)) },
  };
  return { ...found, ratio: found.large.pacedSeconds / found.small.pacedSeconds };
}

async function openIntake(scale: Scale) {
  const dir = await mkdtemp(join(tmpdir(), 'claw-ingest-'));
  prefill(join(dir, 'data/claw.db'), scale);
  const assistant = await startAssistant(dir, { agent: async () => answers('done') });
  let count = 0;
  const next = () => {
    count += 1;
    return say(assistant, scale, count);
  };
  return {
    /** Milliseconds until a round's messages are all stored. */
    async flood(): Promise<number> {
      const before = performance.now();
      let left = ROUND_MESSAGES;
      const lane = async () => {
        while (left-- > 0) await next();
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
      return performance.now() - before;
    },
    async paced(perSecond: number) {
      const messages = PACED_SECONDS * perSecond;
      const waits: Promise<number>[] = [];
      const before = performance.now();
      while (waits.length < messages) {
        const now = performance.now() - before;
        const due = Math.min(messages, (now / 1_000) * perSecond);
        while (waits.length < due) waits.push(timed(next));
        await sleep(1);
      }
      const sorted = (await Promise.all(waits)).sort((a, b) => a - b);
      const pacedSeconds = (performance.now() - before) / 1_000;
      const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
      return { pacedSeconds, p50Ms: at(0.5), p99Ms: at(0.99) };
    },
    async [Symbol.asyncDispose]() {
      await assistant.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** Messages go round the groups, the worst case for what is kept by group. */
function say({ chat }: TestAssistant, { groups }: Scale, count: number): Promise<void> {
  const call = count % CALLS_EACH === 0 ? '@Andy ' : '';
  return chat.say(
    `${call}message ${count}: shall we meet at the lake on Sunday, or is it too cold?`,
    {
      jid: jidOf(count % groups),
      isDirect: false,
      chatName: `Group ${count % groups}`,
      sender: `person ${count % 37}`,
    },
  );
}

function prefill(path: string, { groups, stored }: Scale): void {
  const store = openStore({ path, now: Date.now() });
  store.transaction(() => {
    for (let at = 0; at < groups; at += 1) {
      const group = { jid: jidOf(at), name: `Group ${at}`, folder: `group-${at}` };
      store.chats.see({ ...group, channel: 'chat', isDirect: false }, at);
      store.groups.register({ ...group, needsTrigger: true, triggerWord: null, isMain: false }, at);
    }
  });
  for (let from = 0; from < stored; from += PREFILL_AT_ONCE) {
    store.transaction(() => {
      for (let at = from; at < Math.min(stored, from + PREFILL_AT_ONCE); at += 1) {
        store.messages.add(oldMessage(at, groups), at);
      }
    });
  }
  store.close();
}

function oldMessage(at: number, groups: number) {
  return {
    jid: jidOf(at % groups),
    id: `OLD${((at * 2_654_435_761) % 2 ** 32).toString(16)}${at}`,
    sender: `person ${at % 37}`,
    senderName: `Person ${at % 37}`,
    isOwner: false,
    text: `something that was said long ago, number ${at}, and is a line or so long as usual`,
    sentAt: at,
  };
}

function jidOf(group: number): string {
  return `chat:${1_203_630_000_000 + group * 7}@g.us`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
