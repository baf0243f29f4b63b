/**
 * Measures what one idle channel adds to the memory of the process that has it: the channel of an applied skill, connected
 * to the server of its tests, which is in another process. Both figures are taken after collections of garbage, with
 * what every channel shares (the store, `fetch`, the host's end) loaded before the first.
 *
 *     npx node scripts/bench/channel-memory.ts mqtt
 *
 * The skill has to be applied: its tests and its packages are needed. PSS divides pages that are of a file, such as the
 * Node program, among the processes that map them; private pages are this process's alone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ChannelDefinition } from '../../src/channels/channel.ts';
import { openMemoryDatabases } from '../../src/store/own-databases.ts';
import { SMALL_HEAP, withSmallAllocator } from '../../src/supervisor/small-process.ts';
import { channelFrom } from '../../src/testing/channel/bench.ts';
import { HostEnd } from '../../src/testing/channel/host-end.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SETTLE_MS = 3_000;

type FarEnd = {
  readonly environment: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};
type Server = {
  readonly url: string;
  readonly close?: () => Promise<void>;
} & Partial<AsyncDisposable>;
const Environment = z.record(z.string(), z.string());

/** Starts the server of a skill's tests, and gives the lines of `.env` for it. */
const FAR_ENDS: Readonly<Record<string, () => Promise<FarEnd>>> = {
  async mqtt() {
    const { Broker } = await partOf('mqtt', 'broker.ts');
    const broker: Server = await Broker.start();
    return farEnd(broker, { MQTT_URL: broker.url, MQTT_ALLOW_FROM: 'esp32' });
  },
  async telegram() {
    const { startBotApi } = await partOf('telegram', 'bot-api.ts');
    const token = '4242:AAtest_token-for_a_bot_of_nobody';
    const api: Server = await startBotApi({ token });
    const own = { TELEGRAM_BOT_TOKEN: token, TELEGRAM_ALLOW_FROM: '1001' };
    return farEnd(api, { ...own, TELEGRAM_API_ROOT: api.url });
  },
  async slack() {
    const { settingsOf, startWorkspace } = await partOf('slack', 'fixtures.ts');
    const slack: Server = await startWorkspace();
    return farEnd(slack, Environment.parse(settingsOf(slack)));
  },
  async matrix() {
    const { settingsOf, startServer } = await partOf('matrix', 'fixtures.ts');
    const server: Server = await startServer();
    return farEnd(server, Environment.parse(settingsOf(server)));
  },
  async discord() {
    const { settingsOf, startServer } = await partOf('discord', 'fixtures.ts');
    const server: Server = await startServer();
    return farEnd(server, Environment.parse(settingsOf(server)));
  },
  async email() {
    const { settingsOf } = await partOf('email', 'fixtures.ts');
    const { MailServer } = await partOf('email', 'mail-server.ts');
    const server: Server = await new MailServer().comeUp();
    return farEnd(server, Environment.parse(settingsOf(server)));
  },
  async signal() {
    const { settingsOf } = await partOf('signal', 'fixtures.ts');
    const { SignalCli } = await partOf('signal', 'signal-cli.ts');
    const server: Server = await new SignalCli().comeUp();
    return farEnd(server, Environment.parse(settingsOf(server)));
  },
  async linear() {
    const { settingsOf } = await partOf('linear', 'fixtures.ts');
    const { LinearServer } = await partOf('linear', 'linear-server.ts');
    const server: Server = await new LinearServer().comeUp();
    return farEnd(server, Environment.parse(settingsOf(server)));
  },
  async serial() {
    const { LineServer } = await partOf('serial', 'board.ts');
    const line: Server = await LineServer.start();
    return farEnd(line, { SERIAL_PORT: line.url, SERIAL_ALLOW_FROM: 'esp32' });
  },
};

const Definition = z.custom<ChannelDefinition>(
  (value) => z.looseObject({ open: z.function() }).safeParse(value).success,
);
const definitionIn = (exported: unknown): ChannelDefinition => Definition.parse(exported);

const [name = '', settings] = process.argv.slice(2);
if (settings !== undefined) await beIdle(name, Environment.parse(JSON.parse(settings)));
else await measure(name);

async function measure(channel: string): Promise<void> {
  const start = FAR_ENDS[channel];
  if (start === undefined) throw new Error(`There are ${Object.keys(FAR_ENDS).join(', ')}.`);
  const { environment, close } = await start();
  try {
    const words = [
      ...SMALL_HEAP,
      '--expose-gc',
      import.meta.filename,
      channel,
      JSON.stringify(environment),
    ];
    const child = spawn(process.execPath, words, {
      stdio: 'inherit',
      env: withSmallAllocator(process.env),
    });
    await once(child, 'close');
  } finally {
    await close();
  }
}

/** Connects the channel in this process, and prints what that added. */
async function beIdle(
  channel: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'claw-memory-'));
  const databases = openMemoryDatabases({ now: Date.now });

  const far = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(far, 'listening');
  await fetch(
    `http://127.0.0.1:${z.looseObject({ port: z.number() }).parse(far.address()).port}`,
  ).then((it) => it.text());
  far.close();
  const before = await memory();
  const { channel: definition } = await import(join(ROOT, `src/channels/${channel}.ts`));
  const made = channelFrom(definitionIn(definition), environment, {
    assistantName: 'Andy',
    dataDir,
    log: { info() {}, warn: console.warn },
    ownerConsole: null,
    openDatabase: databases.of('channel', channel),
    clock: { now: Date.now, random: Math.random, pause: (ms) => sleep(ms) },
  });
  if (made === null) throw new Error(`${channel} stayed silent.`);
  await made.connect(new HostEnd());
  const { state, detail } = made.status();
  if (state !== 'connected') throw new Error(`${channel} is ${state}: ${detail}`);
  const after = await memory();
  const added = Object.entries(after).map(
    ([what, mb]) => `${what} +${(mb - (before[what] ?? 0)).toFixed(1)}`,
  );
  console.log(`${channel}, idle, in MB: ${added.join(', ')}`);
  await made.disconnect();
  await rm(dataDir, { recursive: true, force: true });
  process.exit(0);
}

/** A part of a skill's tests. It has no types here, as the skill is not applied where this is checked. */
// biome-ignore lint/suspicious/noExplicitAny: see above
function partOf(skill: string, file: string): Promise<any> {
  return import(join(ROOT, 'skills', skill, 'tests', file));
}

function farEnd(server: Server, environment: Readonly<Record<string, string>>): FarEnd {
  return {
    environment,
    close: async () => void (await (server.close?.() ?? server[Symbol.asyncDispose]?.())),
  };
}

/** Memory in MB, once garbage is collected and the pages of the start are given back. */
async function memory(): Promise<Readonly<Record<string, number>>> {
  await sleep(SETTLE_MS);
  for (let round = 0; round < 4; round += 1)
    void globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  const rollup = readFileSync('/proc/self/smaps_rollup', 'utf8');
  const kb = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1]);
  const { heapUsed, external } = process.memoryUsage();
  const mb = 1_048_576;
  return {
    RSS: kb('Rss') / 1024,
    PSS: kb('Pss') / 1024,
    private: kb('Private_Dirty') / 1024,
    heap: heapUsed / mb,
    external: external / mb,
  };
}
