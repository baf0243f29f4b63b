import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Board, type BoardOptions } from './board.ts';

const IMPORTS = `
from chipclaw.app import create_tools
from chipclaw.bus.queue import MessageBus
from chipclaw.config import Config
try:
    tools
except NameError:
    tools = create_tools(Config(), MessageBus())`;

async function bench(options: BoardOptions = {}) {
  const board = await Board.flash(options);
  const call = async (name: string, args: object): Promise<string> =>
    String(
      await board.value(
        `tools.execute(${JSON.stringify(name)}, json.loads(${JSON.stringify(JSON.stringify(args))}))`,
        IMPORTS,
      ),
    );
  return { board, call, [Symbol.asyncDispose]: () => board[Symbol.asyncDispose]() };
}

test('the tools are offered as functions of OpenAI, and a wrong call is an error in words', async () => {
  await using bed = await bench();
  const offered = await bed.board.value('tools.get_definitions()', IMPORTS);
  const names = await bed.board.value(
    'sorted([one["function"]["name"] for one in tools.get_definitions()])',
  );
  expect(names).toEqual([
    'exec_micropython',
    'gpio',
    'http_fetch',
    'i2c_scan',
    'list_dir',
    'message',
    'read_file',
    'write_file',
  ]);
  expect(offered).toMatchObject(
    Array.from({ length: 8 }, () => ({
      type: 'function',
      function: { parameters: { type: 'object' } },
    })),
  );
  expect(await bed.call('fly', {})).toBe("Error: Tool 'fly' not found");
  expect(await bed.call('gpio', { pin: 2 })).toBe('Error: gpio needs mode');
  expect(await bed.call('gpio', { pin: 2, mode: 'write' })).toBe('Error: mode write needs value');
  expect(await bed.call('gpio', { pin: 2, mode: 'fly' })).toContain('Error: mode is read');
  expect(await bed.call('gpio', { pin: 2, mode: 'read', colour: 'red' })).toMatch(/^Error: /);
});

test('files: 10 KB at most, folders are made, nothing outside of the workspace', async () => {
  await using bed = await bench();
  expect(await bed.call('write_file', { path: 'a/b/c.txt', content: 'grün' })).toBe(
    'Wrote 5 bytes to a/b/c.txt',
  );
  expect(await bed.call('write_file', { path: 'a/b/c.txt', content: '!', append: true })).toContain(
    '1 bytes',
  );
  expect(await bed.call('read_file', { path: '/workspace/a/b/c.txt' })).toBe('grün!');
  expect(JSON.parse(await bed.call('list_dir', { path: 'a' }))).toEqual([
    { name: 'b', type: 'dir', size: 0 },
  ]);
  expect(JSON.parse(await bed.call('list_dir', { path: 'a/b' }))).toEqual([
    { name: 'c.txt', type: 'file', size: 6 },
  ]);

  await bed.call('write_file', { path: 'long.txt', content: 'ü'.repeat(6000) });
  const long = await bed.call('read_file', { path: 'long.txt' });
  expect(long).toBe(`${'ü'.repeat(5120)}...(truncated)`);
  expect(await bed.call('read_file', { path: 'none.txt' })).toBe(
    'Error: there is no file none.txt',
  );
  expect(await bed.call('list_dir', { path: 'none' })).toBe('Error: there is no folder none');
  for (const path of [
    '/config.json',
    '../config.json',
    'a/../../config.json',
    '/workspace2/x',
    '/workspace/../boot.py',
  ]) {
    expect(await bed.call('read_file', { path })).toBe(`Error: ${path} is outside of /workspace`);
    expect(await bed.call('write_file', { path, content: '' })).toBe(
      `Error: ${path} is outside of /workspace`,
    );
  }
});

test('pins: read, write, adc, pwm that ends where the pin is used otherwise, and I2C', async () => {
  await using bed = await bench();
  bed.board.pins.set(0, 1);
  bed.board.voltages.set(4, 40_000);
  bed.board.i2c = [0x3c, 0x76];
  expect(JSON.parse(await bed.call('gpio', { pin: 0, mode: 'read' }))).toEqual({
    pin: 0,
    value: 1,
  });
  expect(JSON.parse(await bed.call('gpio', { pin: 4, mode: 'adc' }))).toEqual({
    pin: 4,
    value: 40_000,
  });
  await bed.call('gpio', { pin: 5, mode: 'pwm', value: 32_768, freq: 50 });
  expect(bed.board.waves.get(5)).toMatchObject({ duty: 32_768, freq: 50 });
  expect(await bed.call('gpio', { pin: 5, mode: 'pwm', value: 70_000 })).toContain(
    'Error: the duty',
  );
  await bed.call('gpio', { pin: 5, mode: 'write', value: 0 });
  expect(bed.board.waves.get(5)).toMatchObject({ duty: null, freq: null });
  expect(JSON.parse(await bed.call('i2c_scan', { scl: 22, sda: 21 }))).toEqual({
    addresses: ['0x3c', '0x76'],
  });
});

const PROGRAMS = [
  ['print("a", 1)\nprint("b")', 'a 1\nb\n'],
  ['6 * 7', '42\n'],
  ['"print"', "'print'\n"],
  ['x = 1', '(no output)'],
  ['print(__workspace__)', '/workspace\n'],
  ['def f(n):\n    print("in", n)\nf(2)', 'in 2\n'],
  ['print("before")\n1/0', /^before\nError: Traceback[\s\S]*ZeroDivisionError/],
  ['this is no python', /^Error: [\s\S]*SyntaxError/],
  ['import sys\nprint("x")\nsys.exit()', 'x\n(the program called exit)\n'],
  ['print("y" * 5000)', `${'y'.repeat(4096)}...(truncated)`],
] as const;

test('a program is run, and what it prints is the result', async () => {
  await using bed = await bench();
  for (const [code, result] of PROGRAMS) {
    const said = await bed.call('exec_micropython', { code });
    if (typeof result === 'string') expect(said).toBe(result);
    else expect(said).toMatch(result);
  }
});

test('what an imported module prints is part of the result, and the console has its print again', async () => {
  await using bed = await bench();
  const program = 'print("from a module")\ndef go():\n    print("gone")\n';
  await bed.call('write_file', { path: 'blink.py', content: program });
  expect(await bed.call('exec_micropython', { code: 'import blink\nblink.go()\n1/0' })).toMatch(
    /^from a module\ngone\nError: [\s\S]*ZeroDivisionError/,
  );
  await bed.board.run('print("later")');
  expect(bed.board.console).toEqual(['later']);
});

test('a program has a minute, and its timer ends with it', async () => {
  await using bed = await bench();
  const code = 'import machine\nprint([timer.period for timer in machine.Timer.running])';
  expect(await bed.call('exec_micropython', { code })).toBe('[60000]\n');
  expect(await bed.board.value('len(machine.Timer.running)', 'import machine')).toBe(0);
});

test('the timer of a program that does not end starts the board anew, and the chat is told', async () => {
  await using board = await Board.start({
    files: { '/data/overrun.json': '["uart", "uart_default"]' },
  });
  expect(await board.read(1)).toEqual([expect.stringContaining('took longer than 60 s')]);
  await board.run(
    'app.tools.set_context("uart", "desk")\napp.tools.get("exec_micropython")._end_overrun(None)',
  );
  expect(board.resets).toBe(1);
  expect(JSON.parse(await board.file('/data/overrun.json'))).toEqual(['uart', 'desk']);
});

test('a page is fetched, and cut after 4 KB', async () => {
  const server = createServer(({ url }, response) => {
    if (url === '/none') response.writeHead(404).end('no such page');
    else if (url === '/chunked') {
      response.write('in ');
      response.end('parts');
    } else response.end(url === '/long' ? 'z'.repeat(100_000) : 'short');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using bed = await bench();
  expect(await bed.call('http_fetch', { url: `${at}/short` })).toBe('short');
  expect(await bed.call('http_fetch', { url: `${at}/chunked` })).toBe('in parts');
  expect(await bed.call('http_fetch', { url: `${at}/long` })).toBe(
    `${'z'.repeat(4096)}...(truncated)`,
  );
  expect(await bed.call('http_fetch', { url: `${at}/none` })).toBe('HTTP 404\nno such page');
  expect(await bed.call('http_fetch', { url: 'file:///config.json' })).toContain(
    'Error: the address begins',
  );
  server.closeAllConnections();
  server.close();
  expect(await bed.call('http_fetch', { url: `${at}/short` })).toMatch(/^Error: /);
});

test('without the modules of a board each tool says so', async () => {
  await using bed = await bench({ without: ['machine', 'requests'] });
  expect(await bed.call('gpio', { pin: 2, mode: 'read' })).toContain('no module machine');
  expect(await bed.call('i2c_scan', { scl: 1, sda: 2 })).toContain('no module machine');
  expect(await bed.call('http_fetch', { url: 'http://x' })).toContain(
    'neither urequests nor requests',
  );
  expect(await bed.call('message', { content: 'x', channel: 'mqtt' })).toBe(
    'Error: there is no channel mqtt. There is: none',
  );
});
