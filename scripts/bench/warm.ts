/**
 * Measures the way of a message to the agent in a warm container, from the first byte that the far end writes to a socket:
 * the channel's client, the store, the claimed turn, the prompt, the frame on the socket, until it is read and parsed inside.
 * On the pty of a serial port it begins with the line that is to be written.
 * On every channel of this tree, each with the far end of its tests: WhatsApp, and those of the skills that are applied.
 * Also the agent's time to its first request to the model, warm and cold.
 *
 *     npx node scripts/bench/warm.ts [samples] [channel ...]
 */
import { spawnSync } from 'node:child_process';
import { fsyncSync, writeSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Channel } from '../../src/channels/channel.ts';
import { pause } from '../../src/channels/kit/backoff.ts';
import { ALWAYS } from '../../src/host/groups/trigger.ts';
import { lazySandbox } from '../../src/host/turns/agent/lazy-sandbox.ts';
import { pingDocker } from '../../src/sandbox/engines/daemon/daemon.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { openOwnDatabases } from '../../src/store/own-databases.ts';
import { SMALL_HEAP, withSmallAllocator } from '../../src/supervisor/small-process.ts';
import { startAssistant } from '../../src/testing/assistant.ts';
import type { ChannelSubject, FarEnd } from '../../src/testing/channel/far-end.ts';
import { sandboxProject } from '../../src/testing/sandbox-project.ts';
import { channelsHere } from './channels.ts';

export type WarmBench = {
  readonly samples: number;
  readonly channels: readonly ChannelLatency[];
  /** From a turn's start to the model's server, medians. */
  readonly warmRequestMs: number;
  readonly coldRequestMs: number;
};

export type ChannelLatency = {
  readonly channel: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Medians of its parts: in the channel, until the message is on disk, until the host has the frame, until it is read inside. */
  readonly partsMs: readonly number[];
  /** The same parts of the slowest messages, medians: which of them p99 comes from. */
  readonly slowPartsMs: readonly number[];
  /** One durable write of a page, which each message waits for at least: made after each message, on the same disk. */
  readonly disk: { readonly p50Ms: number; readonly p99Ms: number };
};

/** Answers with the time at which it had read the frame; the clock is the same in a container. */
const PROBE = `
  import { connectToHost } from './host/connection.ts';
  export async function runAgent() {
    const stream = await connectToHost('/run/claw/host.sock');
    stream.write('{"type":"ready","protocol":1}\\n');
    let text = '';
    stream.on('data', (chunk) => {
      text += chunk;
      for (let end = text.indexOf('\\n'); end !== -1; end = text.indexOf('\\n')) {
        take(JSON.parse(text.slice(0, end)), process.hrtime.bigint());
        text = text.slice(end + 1);
      }
    });
    stream.on('close', () => process.exit(0));
    function take(frame, now) {
      if (frame.type === 'stop') process.exit(0);
      if (frame.type !== 'turn') return;
      const done = { type: 'done', turn: frame.id, text: String(now), session: 's1' };
      stream.write(JSON.stringify(done) + '\\n');
    }
  }`;

const GOAL_MS = 10;
/** They are asked for news now and then, which a message waits for. */
const POLLED = new Set(['linear']);
const STARTS = 10;
const WARM_UP = 20;
/** The share of the messages whose parts are shown as those of slow ones. */
const SLOW = 0.02;
const PAGE_BYTES = 4096;
/** Longer than TCP waits with an acknowledgement, which holds up what follows. */
const PAUSE_MS = 60;

if (import.meta.main && !SMALL_HEAP.every((flag) => process.execArgv.includes(flag))) {
  // As the supervisor starts the assistant.
  const words = [...SMALL_HEAP, ...process.argv.slice(1)];
  const env = withSmallAllocator(process.env);
  process.exit(spawnSync(process.execPath, words, { env, stdio: 'inherit' }).status ?? 1);
}
if (import.meta.main) {
  const [samples = '300', ...names] = process.argv.slice(2);
  printWarm(await benchWarm(Number(samples), names));
  process.exit(0); // Clients of channels keep timers.
}

/** Prints a measurement with its goal. */
export function printWarm(found: WarmBench | null): void {
  if (found === null) {
    console.log('warm container: skipped, no Docker daemon answers');
    return;
  }
  const { samples, channels, warmRequestMs, coldRequestMs } = found;
  console.log(`warm container, message to frame inside, ${samples} each, goal p99 ${GOAL_MS} ms`);
  for (const { channel, p50Ms, p99Ms, partsMs, slowPartsMs, disk } of channels) {
    console.log(
      `  ${channel.padEnd(9)} ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms ` +
        `(channel + stored + turn + frame: ${sum(partsMs)}; the slowest ${sum(slowPartsMs)}); ` +
        `a durable write ${disk.p50Ms.toFixed(1)}, p99 ${disk.p99Ms.toFixed(1)}`,
    );
  }
  console.log(
    `  turn to the model's server: ${warmRequestMs.toFixed(0)} ms warm, ` +
      `${coldRequestMs.toFixed(0)} ms with the container's start`,
  );
}

function sum(parts: readonly number[]): string {
  return parts.map((ms) => ms.toFixed(1)).join(' + ');
}

/**
 * Null where no Docker daemon answers.
 *
 * @param names of channels; by default all of this tree that are told of a message at once
 */
export async function benchWarm(
  samples: number,
  names: readonly string[] = [],
): Promise<WarmBench | null> {
  if ((await pingDocker({ socketPath: '/var/run/docker.sock' })) === null) return null;
  const files = { 'container/agent/main.ts': PROBE };
  const channels: ChannelLatency[] = [];
  for (const subject of await channelsHere()) {
    const isAsked = names.length === 0 ? !POLLED.has(subject.name) : names.includes(subject.name);
    if (!isAsked) continue;
    await using project = await sandboxProject({ engine: 'docker', files });
    channels.push(await latencyOf(subject, project.sandbox, samples));
  }
  return { samples, channels, ...(await modelRequests()) };
}

async function latencyOf(
  subject: ChannelSubject,
  sandbox: Sandbox,
  samples: number,
): Promise<ChannelLatency> {
  const dir = await mkdtemp(join(tmpdir(), 'claw-warm-'));
  const dataDir = join(dir, 'data');
  await using farEnd = await subject.start(dataDir);
  const marks = createMarks();
  const databases = openOwnDatabases({ dataDir, now: Date.now });
  const channel = farEnd.create(
    {
      assistantName: 'Andy',
      dataDir,
      log: { info() {}, warn: console.warn },
      ownerConsole: null,
      openDatabase: databases.of('channel', subject.name),
      clock: { now: Date.now, random: Math.random, pause },
    },
    'as set up',
  );
  const jid = farEnd.jidOf('direct');
  if (channel === null || jid === null) throw new Error(`${subject.name} stayed silent.`);
  const assistant = await startAssistant(dir, {
    over: {
      sandbox: lazySandbox(async () => ({ kind: 'ready', sandbox: marks.sandbox(sandbox) })),
      channels: [marks.channel(channel)],
    },
  });
  assistant.store.transaction(() => {
    const chat = { jid, name: 'Ada', folder: 'family' };
    assistant.store.chats.see({ ...chat, channel: channel.name, isDirect: true }, Date.now());
    assistant.store.groups.register({ ...chat, ...ALWAYS, isMain: false }, Date.now());
  });
  const taken: (readonly number[])[] = [];
  const writes: number[] = [];
  const file = await open(join(dir, 'page'), 'w');
  // The first starts the container; those after it warm up the code.
  for (let sample = -WARM_UP; sample < samples; sample += 1) {
    const times = await timeMessage(farEnd, marks);
    const writeMs = timeWrite(file.fd);
    if (sample < 0) continue;
    taken.push(times);
    writes.push(writeMs);
  }
  await assistant.stop();
  databases.close();
  await file.close();
  await rm(dir, { recursive: true, force: true });
  return { channel: subject.name, ...summary(taken), disk: percentiles(writes) };
}

function summary(taken: readonly (readonly number[])[]) {
  const sorted = taken.toSorted((one, other) => tookMs(one) - tookMs(other));
  const slowest = sorted.slice(Math.floor(-sorted.length * SLOW));
  return {
    ...percentiles(taken.map(tookMs)),
    partsMs: partsOf(taken),
    slowPartsMs: partsOf(slowest),
  };
}

function tookMs(times: readonly number[]): number {
  return (times.at(-1) ?? Number.NaN) - (times[0] ?? Number.NaN);
}

function partsOf(taken: readonly (readonly number[])[]): readonly number[] {
  return [1, 2, 3, 4].map((part) =>
    median(taken.map((times) => (times[part] ?? Number.NaN) - (times[part - 1] ?? Number.NaN))),
  );
}

function percentiles(values: readonly number[]): { p50Ms: number; p99Ms: number } {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}

/** Appends a page and waits for the disk, as a commit does. */
function timeWrite(fd: number): number {
  const began = clockMs();
  writeSync(fd, Buffer.alloc(PAGE_BYTES));
  fsyncSync(fd);
  return clockMs() - began;
}

/** Returns the times of one message's way, in milliseconds. */
async function timeMessage(farEnd: FarEnd, marks: Marks): Promise<readonly number[]> {
  const inside = marks.begin();
  // Its work before, such as the encryption for this device, is not the assistant's.
  const { write } = Socket.prototype;
  onNextWrite(marks.restart);
  await farEnd.sendText('friend', 'direct', 'How warm is the lake today?');
  const times = await inside;
  Socket.prototype.write = write;
  // What follows is not part of the next sample.
  await sleep(PAUSE_MS);
  return times;
}

/** Calls back just before anything is written to a socket by this process, once. */
function onNextWrite(callBack: () => void): void {
  const { write } = Socket.prototype;
  Socket.prototype.write = function (this: Socket, ...given: unknown[]) {
    Socket.prototype.write = write;
    callBack();
    return Reflect.apply(write, this, given);
  };
}

type Marks = ReturnType<typeof createMarks>;

/** Notes when a message passes from one part to the next. */
function createMarks() {
  let times: number[] = [];
  let over = Promise.withResolvers<readonly number[]>();
  const note = () => void times.push(clockMs());
  return {
    /** Resolves when the frame was read inside. */
    begin(): Promise<readonly number[]> {
      over = Promise.withResolvers();
      times = [clockMs()];
      return over.promise;
    },
    /** Begins again, where nothing has come yet. */
    restart(): void {
      if (times.length === 1) times = [clockMs()];
    },
    channel(channel: Channel): Channel {
      const connect = channel.connect.bind(channel);
      // Answers stay here: after many in a row a channel takes the two for agents that talk to each other.
      channel.send = async () => {};
      channel.connect = (events) =>
        connect({
          ...events,
          async onMessage(message) {
            note();
            await events.onMessage(message);
            note();
          },
        });
      return channel;
    },
    sandbox(sandbox: Sandbox): Sandbox {
      return {
        ...sandbox,
        async runTurn(request, events) {
          const started = clockMs();
          const outcome = await sandbox.runTurn(request, events);
          if (outcome.kind !== 'answered') throw new Error(outcome.message);
          times.push(started, Number(outcome.text) / 1e6);
          over.resolve(times);
          return { ...outcome, text: 'It is warm enough.' };
        },
      };
    },
  };
}

function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

async function modelRequests(): Promise<{ warmRequestMs: number; coldRequestMs: number }> {
  let onRequest = () => {};
  await using project = await sandboxProject({
    engine: 'docker',
    script: () => {
      onRequest();
      return [{ type: 'text', text: 'ok' }];
    },
  });
  const timeTurn = async (): Promise<number> => {
    const before = performance.now();
    let tookMs = Number.NaN;
    onRequest = () => {
      tookMs = performance.now() - before;
    };
    await project.answer('hello');
    return tookMs;
  };
  const cold: number[] = [];
  const warm: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    cold.push(await timeTurn());
    warm.push(await timeTurn());
    await project.sandbox.stop('family');
  }
  return { warmRequestMs: median(warm), coldRequestMs: median(cold) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
