/**
 * Measures the way of a message from its channel to the agent in a warm container: the call of `onMessage`,
 * the store, the claimed turn, the prompt, the frame on the socket, until it is read and parsed inside. Also
 * the agent's time to its first request to the model, warm and cold.
 *
 *     node scripts/bench/warm.ts
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { lazySandbox } from '../../src/host/turns/agent/lazy-sandbox.ts';
import { pingDocker } from '../../src/sandbox/engines/daemon/daemon.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { startAssistant, type TestAssistant } from '../../src/testing/assistant.ts';
import { sandboxProject } from '../../src/testing/sandbox-project.ts';

export type WarmBench = {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** From a turn's start to the model's server, medians. */
  readonly warmRequestMs: number;
  readonly coldRequestMs: number;
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
const STARTS = 10;

if (import.meta.main) printWarm(await benchWarm(300));

/** Prints a measurement with its goal. */
export function printWarm(found: WarmBench | null): void {
  if (found === null) {
    console.log('warm container: skipped, no Docker daemon answers');
    return;
  }
  const { samples, p50Ms, p99Ms, warmRequestMs, coldRequestMs } = found;
  console.log(
    `warm container: message to frame inside ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms of ` +
      `${samples}, goal ${GOAL_MS} ms`,
  );
  console.log(
    `  turn to the model's server: ${warmRequestMs.toFixed(0)} ms warm, ` +
      `${coldRequestMs.toFixed(0)} ms with the container's start`,
  );
}

/** Null where no Docker daemon answers. */
export async function benchWarm(samples: number): Promise<WarmBench | null> {
  if ((await pingDocker({ socketPath: '/var/run/docker.sock' })) === null) return null;
  const latencies = await framesInside(samples);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { samples, p50Ms: at(0.5), p99Ms: at(0.99), ...(await modelRequests()) };
}

async function framesInside(samples: number): Promise<readonly number[]> {
  const files = { 'container/agent/main.ts': PROBE };
  await using project = await sandboxProject({ engine: 'docker', files });
  const dir = await mkdtemp(join(tmpdir(), 'claw-warm-'));
  const assistant = await startAssistant(dir, { over: { sandbox: given(project.sandbox) } });
  const latencies: number[] = [];
  // The first starts the container; those after it warm up the host's code.
  for (let sample = -20; sample < samples; sample += 1) {
    const latencyMs = await timeFrame(assistant);
    if (sample >= 0) latencies.push(latencyMs);
  }
  await assistant.stop();
  await rm(dir, { recursive: true, force: true });
  return latencies.sort((one, other) => one - other);
}

function given(sandbox: Sandbox) {
  return lazySandbox(async () => ({ kind: 'ready', sandbox }));
}

async function timeFrame({ terminal }: TestAssistant): Promise<number> {
  const { promise: sent, resolve } = Promise.withResolvers<string>();
  terminal.send = async ({ text }) => resolve(text);
  const before = process.hrtime.bigint();
  await terminal.say('How warm is the lake today?');
  const inside = BigInt(await sent);
  // The end of the turn is written by then; what follows it is no part of the next sample.
  await new Promise((done) => setTimeout(done, 5));
  return Number(inside - before) / 1e6;
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
