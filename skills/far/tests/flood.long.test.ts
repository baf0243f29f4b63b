import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { subjects } from '../../../src/sandbox/machines/far/messages.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { type FarHome, type FarWorkerProcess, farHome, OFTEN } from './far-home.ts';
import type { Flood } from './flood-client.ts';

/** What becomes of a flood: the machine is cut off, or the server throws it away and the home never hears it. */
type Outcome = 'cut off' | 'unheard';

type Row = {
  readonly name: string;
  readonly outcome: Outcome;
  /** The subject, of a container under this number, and the message. */
  readonly sends: (fence: number) => Pick<Flood, 'subject' | 'numberAt'> & { message: Buffer };
};

const FENCED = { Ack: 1, Probe: 2, Reply: 3, Record: 4, End: 5 };

/** A message of a link, as a worker may write it. */
function linkMessage(kind: number, fence: number, bytes: Buffer | null = null, channel = 2) {
  const message = Buffer.alloc(bytes === null ? 13 : 24 + bytes.length);
  message[0] = kind;
  message.writeUIntBE(fence, 1, 6);
  if (bytes === null) return message;
  message.writeUIntBE(1_000_000, 13, 6);
  message.writeUInt32BE(channel, 19);
  message[23] = 2;
  bytes.copy(message, 24);
  return message;
}

const MACHINE = 'eve';
const up = (fence: number) => subjects.up(MACHINE, 'other', fence);
const same = (subject: string, message: Buffer) => ({ subject, message, numberAt: null });
const alive = JSON.stringify({
  protocol: 1,
  boot: 'x',
  description: 'x',
  abilities: [],
  capacity: 2,
  running: 0,
  folders: ['other'],
});
const frames = Buffer.from('{"type":"alive","turn":"turn-1"}\n'.repeat(3_000));
const unasked = Buffer.from(JSON.stringify({ kind: 'answer', id: 1_000_000, value: {} }));
const answers = Buffer.concat([Buffer.from([0, 0, 0, unasked.length, 0, 0, 0, 0]), unasked]);
const LARGE = Buffer.alloc(1_000_000, 'x');

const ROWS: readonly Row[] = [
  {
    name: 'presence',
    outcome: 'cut off',
    sends: () => same(subjects.alive(MACHINE), Buffer.from(alive)),
  },
  {
    name: 'that it leaves',
    outcome: 'cut off',
    sends: () => same(subjects.leaving(MACHINE), Buffer.alloc(0)),
  },
  {
    name: 'presence of the largest size',
    outcome: 'cut off',
    sends: () => same(subjects.alive(MACHINE), LARGE),
  },
  {
    name: 'acknowledgements',
    outcome: 'cut off',
    sends: (fence) => same(up(fence), linkMessage(FENCED.Ack, fence)),
  },
  {
    name: 'questions',
    outcome: 'cut off',
    sends: (fence) => same(up(fence), linkMessage(FENCED.Probe, fence)),
  },
  {
    name: 'requests to send again',
    outcome: 'cut off',
    sends: (fence) => same(up(fence), linkMessage(FENCED.Reply, fence)),
  },
  {
    name: 'records that are not the next',
    outcome: 'cut off',
    sends: (fence) => same(up(fence), linkMessage(FENCED.Record, fence, Buffer.from('x'))),
  },
  {
    name: 'records of the largest size',
    outcome: 'cut off',
    sends: (fence) => same(up(fence), linkMessage(FENCED.Record, fence, LARGE)),
  },
  {
    name: 'garbage',
    outcome: 'cut off',
    sends: (fence) => same(up(fence), Buffer.from('garbage')),
  },
  {
    name: 'an old number',
    outcome: 'cut off',
    sends: (fence) => same(up(fence), linkMessage(FENCED.Ack, 1)),
  },
  {
    name: 'messages of a container that was never there',
    outcome: 'cut off',
    sends: () => same(up(9_999), linkMessage(FENCED.Probe, 9_999)),
  },
  {
    name: 'frames of a turn, in their order',
    outcome: 'cut off',
    sends: (fence) => ({
      subject: up(fence),
      message: linkMessage(FENCED.Record, fence, frames),
      numberAt: 13,
    }),
  },
  {
    name: 'answers that nobody asked for, in their order',
    outcome: 'cut off',
    sends: (fence) => ({
      subject: up(fence),
      message: linkMessage(FENCED.Record, fence, answers, 1),
      numberAt: 13,
    }),
  },
  {
    name: 'results of proofs',
    outcome: 'unheard',
    sends: () => same(`far.up.${MACHINE}.proof.said`, LARGE),
  },
  {
    name: 'subjects of its own making',
    outcome: 'unheard',
    sends: () => same(`far.up.${MACHINE}.made.up`, Buffer.alloc(10)),
  },
  {
    name: 'in the name of another machine',
    outcome: 'unheard',
    sends: () => same(subjects.alive('nas'), Buffer.from(alive)),
  },
  {
    name: 'enrolments',
    outcome: 'unheard',
    sends: () => same('far.enrol.eve', Buffer.alloc(56, 'U')),
  },
];

await describeWithEngine('bubblewrap', 'a machine that sends without end', () => {
  let home: FarHome;
  let nas: FarWorkerProcess;
  let eve: FarWorkerProcess;
  let idle: Weight;

  beforeAll(async () => {
    home = await farHome((folder) => (folder === 'other' ? MACHINE : 'nas'));
    nas = await home.join('nas');
    eve = await home.join(MACHINE);
    await home.project.answer('hello', { folder: 'family' });
    // The server, the flooding process and this one share the processors in each row, so here as well.
    await using _ = await startFlood(home, eve, same('far.down.nas.made.up', Buffer.alloc(100)));
    idle = await weighed(async () => {});
  });

  afterAll(async () => {
    await eve[Symbol.asyncDispose]();
    await nas[Symbol.asyncDispose]();
    await home[Symbol.asyncDispose]();
  });

  test.each(ROWS)('$name: $outcome, and nobody else is harmed', async ({ outcome, sends }) => {
    const weight = await flooded(outcome, sends);
    expect(weight.loopMs).toBeLessThanOrEqual(idle.loopMs + MOST_MS);
    expect(weight.memoryBytes).toBeLessThan(MOST_BYTES);
    expect(weight.diskBytes).toBeLessThan(MOST_DISK_BYTES);
  });

  async function flooded(outcome: Outcome, sends: Row['sends']): Promise<Weight> {
    await vi.waitFor(() => expect(home.stateOf(MACHINE)).toBe('here'), OFTEN);
    // The machine is one like any other, also after the flood of the row before.
    expect(await home.project.answer('hello', { folder: 'other' })).toBe('You said: hello');
    const fence = home.places.fences.at(-1) ?? 0;
    home.trouble.length = 0;
    const lines = home.lines.length;
    const weight = await weighed(() => flood(outcome, sends(fence))).finally(
      // The owner lets it in again.
      () => home.state.drain(MACHINE, false),
    );
    // Once, and once more where the flood took longer than the machine was cut off for.
    for (const text of home.trouble) expect(text).toContain('eve sends far more than a worker has');
    if (outcome === 'unheard') expect(home.trouble).toEqual([]);
    expect(home.lines.length - lines).toBeLessThan(50);
    return weight;
  }

  async function flood(outcome: Outcome, message: ReturnType<Row['sends']>): Promise<void> {
    await using flooding = await startFlood(home, eve, message);
    if (outcome === 'cut off') {
      await vi.waitFor(() => expect(home.trouble).not.toEqual([]), OFTEN);
      expect(home.stateOf(MACHINE)).toBe('away');
    }
    // It goes on, and chats elsewhere are answered.
    await flooding.sends(4);
    expect(await home.project.answer('in it', { folder: 'family' })).toBe('You said: in it');
  }

  /** What this process bears while something goes on and another machine's chat is answered. */
  async function weighed(work: () => Promise<void>): Promise<Weight> {
    const before = { memory: process.memoryUsage().rss, disk: bytesBelow(home.project.dataDir) };
    const loop = startLoopClock();
    await work();
    for (let count = 0; count < 3; count += 1) {
      await home.project.answer('hello', { folder: 'family' });
    }
    return {
      loopMs: loop.stop(),
      memoryBytes: process.memoryUsage().rss - before.memory,
      diskBytes: bytesBelow(home.project.dataDir) - before.disk,
    };
  }
});

const MOST_MS = 50;
const MOST_BYTES = 256 * 1024 ** 2;
const MOST_DISK_BYTES = 8 * 1024 ** 2;

type Weight = {
  readonly loopMs: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
};

/**
 * Measures how long the loop's rounds keep others waiting, in milliseconds of this thread's processor: what other
 * processes take of a busy machine does not count. Returns what 99 of 100 rounds keep.
 */
function startLoopClock() {
  const rounds: number[] = [];
  let last = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    rounds.push((now.user - last.user + now.system - last.system) / 1_000);
    last = now;
  }, 5);
  return {
    stop(): number {
      clearInterval(timer);
      return rounds.toSorted((one, other) => one - other)[Math.floor(rounds.length * 0.99)] ?? 0;
    },
  };
}

function bytesBelow(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => statSync(join(one.parentPath, one.name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

async function startFlood(
  home: FarHome,
  worker: FarWorkerProcess,
  { subject, message, numberAt }: ReturnType<Row['sends']>,
) {
  const { readWorkerConfig } = await import('../../../src/lib/far/worker-folder.ts');
  const config = readWorkerConfig(worker.dataDir);
  if (config === null) throw new Error('it has not joined');
  const flood: Flood = {
    port: home.port,
    certificate: config.certificate,
    seed: config.seed,
    subject,
    message: message.toString('base64'),
    numberAt,
  };
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, 'flood-client.ts')],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  child.stdin?.end(JSON.stringify(flood));
  let told = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    told += chunk.toString().split('\n').length - 1;
  });
  return {
    /** It has sent so many lines of bytes more. */
    async sends(lines: number) {
      const until = told + lines;
      await vi.waitFor(() => expect(told).toBeGreaterThanOrEqual(until), OFTEN);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
