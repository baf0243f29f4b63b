import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  existsSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { constants, open } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clone, cloneWithoutProof, runThere } from '../story/clone.ts';

// The device's four stories, with Debian's mosquitto as the broker and a pseudo-terminal of socat as the line.

// The skill's own fixtures, from the clone: a proof of other skills checks this file without that folder.
type BoardType = AsyncDisposable & {
  readonly console: readonly string[];
  readonly pins: ReadonlyMap<number, number>;
  onWritten: (data: Buffer) => void;
  say(data: Buffer): void;
  until(condition: () => boolean): Promise<void>;
};
type Model = AsyncDisposable & {
  readonly provider: object;
  readonly requests: readonly { readonly messages: readonly { readonly content: string }[] }[];
};

const MINUTES = 10 * 60_000;
let clone: Clone;
let folder: string;
let Board: { start(options: object): Promise<BoardType> };
let ModelServer: { start(...answers: readonly unknown[]): Promise<Model> };

beforeAll(async () => {
  clone = cloneWithoutProof();
  folder = mkdtempSync('/tmp/claw-chipclaw-');
  const run = await clone.claw('apply', 'serial', 'mqtt', 'chipclaw');
  expect(run).toMatchObject({ code: 0, json: { outcome: 'done' } });
  ({ Board } = await import(clone.path('skills/chipclaw/tests/board.ts')));
  ({ ModelServer } = await import(clone.path('skills/chipclaw/tests/model.ts')));
}, MINUTES);
afterAll(async () => {
  await clone?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

let lineCount = 0;

/** Puts a board's line on a pseudo-terminal, and opens its other end as a person's program does. */
async function plugIn(board: BoardType) {
  // A link that is left behind may lead to the next pseudo-terminal of anybody.
  lineCount += 1;
  const path = join(folder, `line-${lineCount}`);
  const socat = spawn('socat', ['-', `pty,raw,echo=0,link=${path}`], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  board.onWritten = (data) => void socat.stdin.write(data);
  socat.stdout.on('data', (data: Buffer) => board.say(data));
  while (!existsSync(path)) await pause(10);
  const file = await open(path, constants.O_RDWR | constants.O_NOCTTY);
  // A pseudo-terminal ends with the error EIO.
  const input = createReadStream('', { fd: file.fd, autoClose: false }).on('error', () => {});
  const lines = createInterface({ input }).on('error', () => {});
  return {
    async ask(text: string): Promise<string> {
      const { promise, resolve } = Promise.withResolvers<string>();
      // Frames are for an assistant, which is not here.
      const take = (line: string): void => {
        const { content } = JSON.parse(line);
        if (content !== undefined) resolve(content);
      };
      lines.on('line', take);
      writeSync(file.fd, `${text}\n`);
      const content = await promise;
      lines.off('line', take);
      return content;
    },
    async [Symbol.asyncDispose]() {
      socat.kill('SIGKILL');
      await once(socat, 'close');
      lines.close();
      await file.close();
    },
  };
}

async function startMosquitto() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const config = join(folder, 'mosquitto.conf');
  writeFileSync(config, `listener ${port} 127.0.0.1\nallow_anonymous true\n`);
  const broker = spawn('mosquitto', ['-c', config], { stdio: 'ignore' });
  const isUp = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = createConnection({ host: '127.0.0.1', port });
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  while (!(await isUp())) await pause(20);
  const end = async (): Promise<void> => {
    broker.kill('SIGKILL');
    await once(broker, 'close');
  };
  return { port, [Symbol.asyncDispose]: end };
}

test(
  'a board is talked to on a pseudo-terminal, switches its LED, and programs itself',
  async () => {
    const code = 'import machine\nmachine.Pin(5, machine.Pin.OUT).on()\nprint("done")';
    await using model = await ModelServer.start(
      'Hello.',
      { tool: 'gpio', arguments: { pin: 2, mode: 'write', value: 1 } },
      'The LED is on.',
      { tool: 'write_file', arguments: { path: 'programs/five.py', content: code } },
      {
        tool: 'exec_micropython',
        arguments: { code: 'exec(open("/workspace/programs/five.py").read())' },
      },
      'Pin five is on.',
    );
    await using board = await Board.start({ config: { provider: model.provider } });
    await using line = await plugIn(board);

    expect(await line.ask('Hi')).toBe('Hello.');
    expect(await line.ask('{"content": "LED on"}')).toBe('The LED is on.');
    expect(board.pins.get(2)).toBe(1);
    expect(await line.ask('Write a program for pin five, and run it')).toBe('Pin five is on.');
    expect(board.pins.get(5)).toBe(1);
  },
  MINUTES,
);

test(
  'a board relays from its line to a broker, where another board hears it',
  async () => {
    const relay = { channel: 'mqtt', chat_id: 'garden', content: 'The soil is dry.' };
    await using ours = await ModelServer.start({ tool: 'message', arguments: relay }, 'Told.');
    await using theirs = await ModelServer.start('I open the valve.');
    await using broker = await startMosquitto();
    const mqtt = { enabled: true, broker: '127.0.0.1', port: broker.port };
    const hears = { topic_in: 'chipclaw/out', topic_out: 'valve/out', client_id: 'valve' };
    await using valve = await Board.start({
      config: {
        provider: theirs.provider,
        channels: { mqtt: { ...mqtt, ...hears, allow_from: ['unknown'] } },
      },
    });
    await using board = await Board.start({
      config: { provider: ours.provider, channels: { mqtt: { ...mqtt, allow_from: ['valve'] } } },
    });
    const isConnected = ({ console }: BoardType) =>
      console.some((text) => text.includes('MQTT is connected'));
    await Promise.all([valve, board].map((one) => one.until(() => isConnected(one))));
    await using line = await plugIn(board);

    expect(await line.ask('Tell the garden that the soil is dry')).toBe('Told.');
    await valve.until(() => theirs.requests.length > 0);
    expect(theirs.requests[0]?.messages.at(-1)?.content).toBe('The soil is dry.');
    expect(theirs.requests[0]?.messages[0]?.content).toContain('Chat: mqtt:garden');
  },
  MINUTES,
);

test(
  'the tests of the device that take longer pass',
  async () => {
    const vitest = clone.path('node_modules/vitest/vitest.mjs');
    const args = [vitest, 'run', '--no-isolate', 'skills/chipclaw/tests/long'] as const;
    const run = await runThere(clone.root, [clone.nodePath, ...args]);
    expect(run).toMatchObject({ code: 0 });
  },
  MINUTES,
);

test(
  'by a broker the tools of a board come with its hello, work, and go with its last will',
  async () => {
    await using broker = await startMosquitto();
    await using assistant = await openAssistant(broker.port);
    const mqtt = { enabled: true, host: true, broker: '127.0.0.1', port: broker.port };
    const board = await Board.start({
      config: { channels: { mqtt: { ...mqtt, allow_from: ['valve'] }, uart: { enabled: false } } },
    });
    await assistant.until((tools) => tools.includes('board__gpio'));
    const said = await assistant.call('board__gpio', { pin: 4, mode: 'write', value: 1 });
    expect(JSON.parse(said)).toEqual({ pin: 4, value: 1 });
    expect(board.pins.get(4)).toBe(1);
    await board[Symbol.asyncDispose]();
    await assistant.until((tools) => !tools.includes('board__gpio'));
    expect(await assistant.call('board__gpio', { pin: 4, mode: 'read' })).toContain('no host tool');
  },
  MINUTES,
);

type OneTool = { readonly name: string };
type Turn = { readonly folder: string; readonly tools: readonly OneTool[] };
type TurnEvents = { onTool(call: object): Promise<{ readonly value: unknown }> };

/** Starts the clone's assistant with its own channel on the broker; its agent calls what the test says. */
async function openAssistant(port: number) {
  const testing = await import(clone.path('src/testing/assistant.ts'));
  const { channel } = await import(clone.path('src/channels/mqtt.ts'));
  const { openMemoryDatabases } = await import(clone.path('src/store/own-databases.ts'));
  const waits = (ms: number, signal: AbortSignal) => pause(ms, null, { signal }).catch(() => {});
  const project = new testing.TestProject();
  const terminal = new testing.TestChannel('terminal');
  const databases = openMemoryDatabases({ now: Date.now });
  const { value: mqtt } = channel.open(
    {
      MQTT_URL: `mqtt://127.0.0.1:${port}`,
      MQTT_ALLOW_FROM: 'unknown',
      MQTT_TOPICS: 'board=chipclaw/out>chipclaw/in',
    },
    {
      assistantName: 'Andy',
      dataDir: project.dir,
      log: { info() {}, warn() {} },
      ownerConsole: null,
      openDatabase: databases.of('channel', 'mqtt'),
      clock: { now: Date.now, random: Math.random, pause: waits },
    },
  );
  let work: (turn: Turn, events: TurnEvents) => Promise<void> = async () => {};
  const assistant = await project.start({
    agent: async (turn: Turn, events: TurnEvents) => {
      await work(turn, events);
      return testing.answers('done');
    },
    environment: { CHIPCLAW_DEVICES: 'board=mqtt:board' },
    over: { channels: [terminal, mqtt] },
  });
  const turn = async (todo: typeof work): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    work = async (...parts) => {
      await todo(...parts);
      resolve();
    };
    await terminal.say('do it');
    await promise;
  };
  return {
    async call(name: string, input: object): Promise<string> {
      let said = '';
      await turn(async ({ folder }, { onTool }) => {
        said = String((await onTool({ folder, name, input })).value);
      });
      return said;
    },
    /** Resolves when the tools that a turn is offered are so. */
    async until(isSo: (tools: readonly string[]) => boolean): Promise<void> {
      for (let is = false; !is; ) {
        await turn(async ({ tools }) => {
          is = isSo(tools.map(({ name }) => name));
        });
      }
    },
    async [Symbol.asyncDispose]() {
      await assistant.stop();
      databases.close();
      project[Symbol.dispose]();
    },
  };
}
