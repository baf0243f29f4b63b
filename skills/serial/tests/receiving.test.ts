import { expect, test } from 'vitest';
import { LineServer } from './board.ts';
import { connectChannel, createLineSplitter, HostEnd, MAX_LINE_BYTES } from './fixtures.ts';

test('lines of JSON and of plain text are messages of the one chat', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { host } = connected;
  const board = await server.plugged();
  board.say('{"content": "it is wet", "sender_id": "esp32"}\n');
  board.say('{"content": "hello"}\r\n');
  board.say('temp 21\r\n\n   \n{"content": ""}\n');
  board.say('{"temp": 21}\n{"content": \n');
  await host.until(() => host.messages.length === 5);
  expect(host.messages.map(({ sender, text }) => [sender, text])).toEqual([
    ['esp32', 'it is wet'],
    ['uart_user', 'hello'],
    ['uart_user', 'temp 21'],
    ['uart_user', '{"temp": 21}'],
    ['uart_user', '{"content":'],
  ]);
  expect(host.messages[0]).toMatchObject({
    jid: 'serial:uart_default',
    isDirect: true,
    isOwner: false,
    mentionsAssistant: false,
  });
});

test('a line in pieces is one message, also where a piece ends within a letter', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { host } = connected;
  const board = await server.plugged();
  const bytes = Buffer.from('{"content": "größer 🌡"}\nnext\n');
  for (const byte of bytes) board.say(Uint8Array.of(byte));
  await host.until(() => host.messages.length === 2);
  expect(host.texts).toEqual(['größer 🌡', 'next']);
});

test('invalid UTF-8 is told once and what follows is read', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { host } = connected;
  const board = await server.plugged();
  board.say(Uint8Array.of(0xff, 0xfe, 0x80, 0x0a, 0xff, 0x0a));
  board.say('hello\n');
  await host.until(() => host.messages.length === 1);
  expect(host.texts).toEqual(['hello']);
  expect(host.log).toEqual([
    {
      message: 'a line of the serial device was ignored',
      data: { reason: expect.stringContaining('SERIAL_BAUD') },
    },
  ]);
});

test('ten megabytes without a newline are not held, and are no message', () => {
  const lines: string[] = [];
  let tooLong = 0;
  const take = createLineSplitter({
    onLine: (line) => lines.push(Buffer.from(line).toString()),
    onTooLong: () => {
      tooLong += 1;
    },
  });
  const megabyte = Buffer.alloc(1_048_576, 'x');
  for (let at = 0; at < 10; at += 1) take(megabyte);
  take(Buffer.from('\nhello\n'));
  take(Buffer.alloc(MAX_LINE_BYTES, 'y'));
  take(Buffer.from('\n'));
  expect(tooLong).toBe(1);
  expect(lines).toEqual(['hello', 'y'.repeat(MAX_LINE_BYTES)]);
});

test('with SERIAL_PLAIN_TEXT=no what a board prints while it boots is ignored', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url, { SERIAL_PLAIN_TEXT: 'no' });
  const { host } = connected;
  const board = await server.plugged();
  board.say('rst:0x1 (POWERON_RESET),boot:0x13\n{"content": "up"}\n');
  await host.until(() => host.messages.length === 1);
  expect(host.texts).toEqual(['up']);
});

test('a message with an id that comes again is the same message', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { host } = connected;
  const board = await server.plugged();
  board.say('{"content": "a", "id": 7}\n{"content": "a", "id": 7}\n{"content": "a"}\n');
  await host.until(() => host.messages.length === 3);
  // The host stores a message of a known id once.
  const [first, second, third] = host.messages.map(({ id }) => id);
  expect(first).toBe(second);
  expect(third).not.toBe(first);
});

test('lines that were not stored are handed over again; a burst stays in order and loses nothing', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { host } = connected;
  const board = await server.plugged();
  const store = host.onMessage;
  let failures = 3;
  host.onMessage = async (message) => {
    failures -= 1;
    if (failures >= 0) throw new Error('disk full');
    await store(message);
  };
  board.say('first\n');
  await host.until(() => host.messages.length === 1);
  const lines = Array.from({ length: 1_000 }, (_, at) => `line ${at}`);
  board.say(`${lines.join('\n')}\n`);
  await host.until(() => host.messages.length === 1_001);
  expect(host.texts).toEqual(['first', ...lines]);
  expect(new Set(host.messages.map(({ id }) => id)).size).toBe(1_001);
  expect(host.log[0]).toMatchObject({ data: { cause: 'disk full' } });
});

test('half a line is dropped with the line that it came on', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { host } = connected;
  const first = await server.plugged();
  first.say('{"content": "whole"}\n{"content": "ha');
  await host.until(() => host.messages.length === 1);
  server.unplug();
  const second = await server.plugged();
  second.say('hello\n');
  await host.until(() => host.messages.length === 2);
  expect(host.texts).toEqual(['whole', 'hello']);
});

test('disconnecting waits for what was read', async () => {
  await using server = await LineServer.start();
  const { channel, host } = await connectChannel(server.url);
  const board = await server.plugged();
  const { promise: stored, resolve: finish } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const store = host.onMessage;
  host.onMessage = async (message) => {
    begin();
    await stored;
    await store(message);
  };
  board.say('one\n');
  await begun;
  const ended = channel.disconnect();
  finish();
  await ended;
  expect(host.texts).toEqual(['one']);
  expect(channel.status().state).toBe('stopped');
  expect(new HostEnd().texts).toEqual([]);
});

test('a frame of somebody who may write goes to whoever takes frames, and out as a line; else it is text', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { host, channel } = connected;
  const board = await server.plugged();
  const hello = { frame: 'hello', link: 'a' };
  board.say(`${JSON.stringify(hello)}\n`);
  await host.until(() => host.messages.length === 1);
  expect(host.texts).toEqual([JSON.stringify(hello)]);
  host.takesFrames = true;
  board.say(`${JSON.stringify({ ...hello, sender_id: 'eve' })}\n${JSON.stringify(hello)}\n`);
  await host.until(() => host.frames.length === 1);
  expect(host.frames).toEqual([{ jid: 'serial:uart_default', sender: 'uart_user', body: hello }]);
  await channel.sendFrame?.('serial:uart_default', { frame: 'who' });
  await server.read(1);
  expect(server.lines).toEqual(['{"frame":"who"}']);
  server.unplug();
  await host.until(() => channel.status().state !== 'connected');
  await expect(channel.sendFrame?.('serial:uart_default', {})).rejects.toThrow('nothing was sent');
});

test('an agent at the other end that answers each answer is not answered for ever', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { host, channel } = connected;
  const board = await server.plugged();
  let count = 0;
  host.onMessage = async (message) => {
    host.messages.push(message);
    count += 1;
    await channel.send({ id: `m${count}`, jid: 'serial:uart_default', text: 'and you?' });
    host.changed();
  };
  board.onLine = () => board.say('fine, and you?\n');
  board.say('hello\n');
  await host.until(() => host.log.length > 0);
  expect(count).toBe(31);
  expect(host.log).toMatchObject([{ data: { reason: expect.stringContaining('another agent') } }]);
  expect(host.notices).toEqual([expect.stringContaining('Another agent')]);
});
