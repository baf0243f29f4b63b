/**
 * The worst inputs at each border that takes JSON from a container or a model's server.
 *
 *     npm run bench:borders                 every border
 *     npm run bench:borders -- messages     one of them
 *
 * Each border gets a process of its own, and 20 MB of each kind that a far end can send. What is printed is the CPU time of
 * the main thread, which is the time in which no chat is answered, and the memory beside the input. A cost beyond its limit
 * is marked, and makes the command end with 1.
 */
import { execFileSync } from 'node:child_process';
import { jsonWithin, readJson, USUAL_BOUNDS } from '../../src/lib/bounded-json.ts';
import { createListReader } from '../../src/model/catalog/listed-model.ts';
import { httpFailure } from '../../src/model/failure.ts';
import { chatCompletions } from '../../src/model/providers/chat-completions-protocol.ts';
import { messages } from '../../src/model/providers/messages-protocol.ts';
import { checkCall } from '../../src/model/request-check.ts';
import { parseFrame } from '../../src/sandbox/protocol/frame-link.ts';
import { AgentFrame } from '../../src/sandbox/protocol/frames.ts';
import { testModel } from '../../src/testing/model/test-model.ts';
import { WORST_INPUTS } from '../../src/testing/worst-inputs.ts';

const SIZE_BYTES = 20 * 1_048_576;

/** One border: what a far end puts around the worst part, and how the assistant reads it. */
type Border = {
  readonly around: (worst: string) => string;
  readonly read: (text: Buffer) => unknown;
};

const call = (provider: 'anthropic' | 'openai') => (body: Buffer) =>
  checkCall(testModel({ provider, baseUrl: 'http://127.0.0.1:1', name: 'm' }), body);
const conversation = (field: string) => (worst: string) =>
  `{"model":"m","max_tokens":1,"messages":[],"${field}":${worst}}`;

/** Every border by its name. */
export const BORDERS: Readonly<Record<string, Border>> = {
  'messages of a call (messages)': { around: conversation('messages'), read: call('anthropic') },
  'content of a message (messages)': {
    around: (worst) => `{"model":"m","messages":[{"role":"user","content":${worst}}]}`,
    read: call('anthropic'),
  },
  'tools of a call (messages)': { around: conversation('tools'), read: call('anthropic') },
  'messages of a call (chat completions)': {
    around: conversation('messages'),
    read: call('openai'),
  },
  'content of a message (chat completions)': {
    around: (worst) => `{"model":"m","messages":[{"role":"user","content":${worst}}]}`,
    read: call('openai'),
  },
  'options of a call': { around: conversation('stream_options'), read: call('openai') },
  'a call that is not an object': { around: (worst) => worst, read: call('anthropic') },
  'a frame of a container': {
    around: (worst) => `{"type":"call","turn":"t","id":"1","name":"x","input":${worst}}`,
    read: (line) => parseFrame(line, AgentFrame),
  },
  'the list of a model server': {
    around: (worst) => `{"data":${worst}}`,
    async read(body) {
      const bounds = { maxBytes: SIZE_BYTES, maxValues: 200_000, maxDepth: 20 };
      const list = await readJson(body, bounds);
      return list.kind === 'value' ? createListReader()(list.value) : null;
    },
  },
  'an answer of a model server': {
    around: (worst) => `{"content":${worst}}`,
    read: (body) =>
      messages.textIn(jsonWithin(body, { ...USUAL_BOUNDS, maxBytes: 8 * 1_048_576 })) ??
      chatCompletions.textIn(null),
  },
  'an error of a model server': {
    around: (worst) => `{"error":${worst}}`,
    read: (body) => httpFailure(testModel({ baseUrl: 'http://127.0.0.1:1' }), 400, body.toString()),
  },
};

const MAX_CPU_MS = 200;
const MAX_MEMORY_MB = 100;
/** On a machine that has much else to do, CPU time is longer, too: then the limit is so many plain readings. */
const MAX_READINGS = 3;
/** What an input costs is the least of these measurements: whatever else runs only adds to it. */
const MEASUREMENTS = 3;

/** The cost of one input: CPU time of the main thread, memory beside the input, and what is too much of both. */
export type Cost = {
  readonly input: string;
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly maxCpuMs: number;
  readonly maxMemoryMb: number;
};

/** Returns the costs that are beyond their limits. */
export function tooCostly(costs: readonly Cost[]): readonly Cost[] {
  return costs.filter(
    ({ cpuMs, memoryMb, maxCpuMs, maxMemoryMb }) => cpuMs > maxCpuMs || memoryMb > maxMemoryMb,
  );
}

type Measured = Pick<Cost, 'cpuMs' | 'memoryMb'>;

/** Measures one border in this process. */
async function measure({ around, read }: Border): Promise<readonly Cost[]> {
  // Everything is loaded and compiled before it counts.
  for (const make of Object.values(WORST_INPUTS)) await read(Buffer.from(around(make(60_000))));
  const frame = Buffer.byteLength(around(''));
  const costs: Cost[] = [];
  for (const [input, make] of Object.entries(WORST_INPUTS)) {
    const text = around(make(SIZE_BYTES - frame));
    let least: Measured = { cpuMs: Number.POSITIVE_INFINITY, memoryMb: Number.POSITIVE_INFINITY };
    let maxCpuMs = MAX_CPU_MS;
    for (let time = 0; time < MEASUREMENTS; time += 1) {
      const { cpuMs, memoryMb } = await measureOne(Buffer.from(text), read);
      least = {
        cpuMs: Math.min(least.cpuMs, cpuMs),
        memoryMb: Math.min(least.memoryMb, memoryMb),
      };
      if (least.cpuMs <= maxCpuMs && least.memoryMb <= MAX_MEMORY_MB) break;
      const plain = await measureOne(Buffer.from(PLAIN_TEXT), (bytes) => JSON.parse(`${bytes}`));
      maxCpuMs = Math.max(maxCpuMs, MAX_READINGS * plain.cpuMs);
    }
    costs.push({ input, ...least, maxCpuMs, maxMemoryMb: MAX_MEMORY_MB });
  }
  return costs;
}

/** What is read without looking at its parts, as the pace of this machine. */
const PLAIN_TEXT = JSON.stringify('x'.repeat(SIZE_BYTES));

async function measureOne(bytes: Buffer, read: Border['read']): Promise<Measured> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  const start = process.threadCpuUsage();
  await read(bytes);
  const { user, system } = process.threadCpuUsage(start);
  clearInterval(watch);
  peak = Math.max(peak, process.memoryUsage.rss());
  return { cpuMs: (user + system) / 1_000, memoryMb: (peak - before) / 1_048_576 };
}

/** No measurement takes so long, however busy the machine is. */
const HUNG_MS = 590_000;

/** Measures a border in a process of its own. */
export function costsOf(border: string): readonly Cost[] {
  const args = ['--expose-gc', import.meta.filename, '--child', border];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: HUNG_MS }));
}

if (process.argv[1] === import.meta.filename) {
  const [first, second = ''] = process.argv.slice(2);
  const border = BORDERS[second];
  if (first === '--child' && border !== undefined) {
    process.stdout.write(JSON.stringify(await measure(border)));
  } else {
    for (const name of Object.keys(BORDERS).filter((one) => one.includes(first ?? ''))) {
      console.log(name);
      const costs = costsOf(name);
      const over = tooCostly(costs);
      if (over.length > 0) process.exitCode = 1;
      for (const cost of costs) {
        const { input, cpuMs, memoryMb, maxCpuMs, maxMemoryMb } = cost;
        const figures = `${cpuMs.toFixed(0).padStart(6)} ms ${memoryMb.toFixed(0).padStart(6)} MB`;
        const limit = `  more than ${maxCpuMs.toFixed(0)} ms or ${maxMemoryMb} MB`;
        console.log(`${figures}  ${input}${over.includes(cost) ? limit : ''}`);
      }
    }
  }
}
