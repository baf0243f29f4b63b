import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TurnEvents } from '../../../src/sandbox/sandbox.ts';
import { answers, TestChannel, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import { isIdle } from '../../../src/testing/turn/tasks.ts';
import { Board } from './board.ts';

// The assistant on one end of a line and MicroPython with the device's own files on the other.

const JID = 'serial:uart_default';
const HANG_MS = 60_000;
let board: Board;

beforeAll(async () => {
  board = await Board.start();
  await board.until(() => board.frames.length > 0);
}, HANG_MS);
afterAll(() => board[Symbol.asyncDispose]());

/** An assistant on the board's line. Its agent calls what the test says; `between` is done while a call is under way. */
async function atTheLine(environment: Readonly<Record<string, string>> = {}) {
  const project = new TestProject({
    'groups/main/blink.py': 'print("blink")\n'.repeat(600),
    'device/one.py': 'ONE = 1\n',
    'device/two.py': 'TWO = 2\n',
  });
  const terminal = new TestChannel('terminal');
  const serial = new TestChannel('serial');
  const sent: Readonly<Record<string, unknown>>[] = [];
  let lose: (frame: Readonly<Record<string, unknown>>) => boolean = () => false;
  serial.sendFrame = async (_jid, body) => {
    sent.push(body);
    if (!lose(body)) board.say(`${JSON.stringify(body)}\n`);
  };
  board.onFrame = (frame) => void serial.frame(JID, frame);
  let offered: readonly string[] = [];
  let work: (call: (name: string, input: object) => Promise<string>) => Promise<void>;
  const agent = async (
    {
      tools,
      folder,
    }: { readonly tools: readonly { readonly name: string }[]; readonly folder: string },
    { onTool }: TurnEvents,
  ) => {
    offered = tools.map(({ name }) => name).filter((name) => name.includes('__'));
    await work(async (name, input) => String((await onTool({ folder, name, input })).value));
    return answers('done');
  };
  const hellos = (): number => board.frames.filter(({ frame }) => frame === 'hello').length;
  const before = hellos();
  const assistant = await project.start({
    agent,
    environment: { CHIPCLAW_DEVICES: JID, ...environment },
    over: { channels: [terminal, serial] },
  });
  // It asks who is there, as its channel is connected.
  await board.until(() => hellos() > before);
  return {
    terminal,
    serial,
    sent,
    lose: (decide: typeof lose) => {
      lose = decide;
    },
    /** Runs a turn in which the agent does this; returns the tools of devices that it was offered. */
    async turn(todo: typeof work): Promise<readonly string[]> {
      work = todo;
      await terminal.say('do it');
      await isIdle(assistant);
      return offered;
    },
    /** Resolves when the owner is asked, and answers. */
    async answer(word: string): Promise<string> {
      const before = terminal.sent.length;
      const deadline = Date.now() + HANG_MS;
      while (terminal.sent.length === before && Date.now() < deadline)
        await new Promise(setImmediate);
      await terminal.say(word);
      return textsOf(terminal).at(-1) ?? '';
    },
    async [Symbol.asyncDispose]() {
      await assistant.stop();
      board.onFrame = () => {};
      project[Symbol.dispose]();
    },
  };
}

test(
  'the tools of a device are the assistant’s, and a program waits for the owner’s yes',
  async () => {
    await using line = await atTheLine();
    let lamp = '';
    const names = await line.turn(async (call) => {
      lamp = await call('device__gpio', { pin: 2, mode: 'write', value: 1 });
      await call('device__fly', {});
    });
    expect(names).toEqual(
      expect.arrayContaining(['device__gpio', 'device__exec_micropython', 'device__push_file']),
    );
    expect(JSON.parse(lamp)).toEqual({ pin: 2, value: 1 });
    expect(board.pins.get(2)).toBe(1);

    const said: string[] = [];
    const run = async (word: string): Promise<string> => {
      const turn = line.turn(async (call) => {
        said.push(await call('device__exec_micropython', { code: '6 * 7' }));
      });
      const question = await line.answer(word);
      await turn;
      return question;
    };
    expect(await run('no')).toContain('6 * 7');
    await run('yes');
    expect(said).toEqual([expect.not.stringContaining('42'), '42\n']);
  },
  HANG_MS,
);

test(
  'a file is on the device whole or not at all, goes on where it was cut, and is read back',
  async () => {
    await using line = await atTheLine({ CHIPCLAW_TIMEOUT_SECONDS: '5' });
    await board.run(`open("/blink.py", "w").write("old")`);
    const text = 'print("blink")\n'.repeat(600);
    let chunks = 0;
    line.lose(({ tool }) => tool === '_chunk' && ++chunks === 3);
    const said: string[] = [];
    const push = async (): Promise<void> => {
      const turn = line.turn(async (call) => {
        said.push(await call('device__push_file', { path: '/blink.py', from: 'blink.py' }));
      });
      await line.answer('yes');
      await turn;
    };
    await push();
    expect(said[0]).toMatch(
      /has not answered within 5 s.*At least 6144 of 9000 bytes of \/blink.py/s,
    );
    expect(await board.file('/blink.py')).toBe('old');
    await push();
    const digest = createHash('sha256').update(text).digest('hex');
    expect(said[1]).toBe(`/blink.py is on device: 9000 bytes, SHA-256 ${digest}.`);
    expect(chunks).toBe(4);
    expect(await board.file('/blink.py')).toBe(text);
    await line.turn(async (call) => {
      said.push(await call('device__pull_file', { path: '/blink.py' }));
      said.push(await call('device__pull_file', { path: '/config.json' }));
      said.push(await call('device__pull_file', { path: '/none.py' }));
      said.push(await call('device__pull_file', { path: '/../config.json' }));
    });
    expect(said.slice(2)).toEqual([
      text,
      expect.stringContaining('holds keys'),
      expect.stringContaining('has no file /none.py'),
      expect.stringContaining('no absolute path'),
    ]);
    expect(
      await board.value('[n for n in os.listdir("/") if n.endswith(".push")]', 'import os'),
    ).toEqual([]);
  },
  HANG_MS,
);

test(
  'an update brings all programs of the tree at once, and starts the board anew',
  async () => {
    await using line = await atTheLine();
    await line.terminal.say('/devices update device');
    await board.until(() => board.resets === 1);
    expect([await board.file('/one.py'), await board.file('/two.py')]).toEqual([
      'ONE = 1\n',
      'TWO = 2\n',
    ]);
    const tools = line.sent.flatMap(({ tool }) => (typeof tool === 'string' ? [tool] : []));
    expect(tools.slice(-4)).toEqual(['_stage', '_stage', '_swap', '_reset']);
  },
  HANG_MS,
);

test('files of a set get their names together, also where the power went in between', async () => {
  await using flashed = await Board.flash({ files: { '/a.py': 'old a', '/b.py': 'old b' } });
  await flashed.run(`
from chipclaw.files import Files
from chipclaw import update
import binascii, hashlib, os
files = Files()
def put(path, text, at):
    sha = binascii.hexlify(hashlib.sha256(text).digest()).decode()
    files.begin(path, len(text), sha)
    files.chunk(path, sha, 0, binascii.b2a_base64(text).decode())
    files.stage(path, sha, len(text), at)
put("/a.py", b"new a", 0)
try:
    files.swap(2)
except ValueError:
    pass
update.finish()`);
  expect(await flashed.file('/a.py')).toBe('old a');
  await flashed.run(`
put("/a.py", b"new a", 0)
put("/b.py", b"new b", 1)
names = [name for name in os.listdir("/") if name.endswith(".push")]
os.rename("/update.noted", "/update.due")
os.rename([("/" + name) for name in names if name.startswith("a.py")][0], "/a.py")`);
  expect([await flashed.file('/a.py'), await flashed.file('/b.py')]).toEqual(['new a', 'old b']);
  await flashed.run('update.finish()');
  expect([await flashed.file('/a.py'), await flashed.file('/b.py')]).toEqual(['new a', 'new b']);
  await flashed.run('update.finish()');
  expect(
    await flashed.value(
      '[n for n in os.listdir("/") if "update." in n or ".push" in n]',
      'import os',
    ),
  ).toEqual([]);
});

test(
  'a call of an earlier connection, a second time, or of no form does not run on the device',
  async () => {
    const link = String(await board.value('app.channels[0].link'));
    const before = board.frames.length;
    const results = () => board.frames.slice(before).filter(({ frame }) => frame === 'result');
    const call = {
      frame: 'call',
      id: 'c1',
      link,
      tool: 'gpio',
      args: { pin: 9, mode: 'write', value: 1 },
    };
    const said = [
      { ...call, id: 'c0', link: 'old', args: { pin: 8, mode: 'write', value: 1 } },
      call,
      call,
      { ...call, id: 7 },
      { ...call, id: 'c2', args: 'none' },
      { ...call, id: 'c3', tool: '_shell' },
      { frame: 'hello', link: 'of another board', tools: [] },
      { frame: 'result', id: 'c1', link, ok: true, value: 'of another board' },
      { frame: 'call' },
    ];
    board.say('\u0000\ufffd{"frame": "call"\n');
    board.say(said.map((frame) => `${JSON.stringify(frame)}\n`).join(''));
    await board.until(() => results().length >= 3);
    expect(results().map(({ id, ok }) => [id, ok])).toEqual([
      ['c1', true],
      ['c2', false],
      ['c3', false],
    ]);
    expect(board.pins.get(8)).toBeUndefined();
    expect(board.pins.get(9)).toBe(1);
  },
  HANG_MS,
);
