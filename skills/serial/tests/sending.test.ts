import { expect, test } from 'vitest';
import { LineServer } from './board.ts';
import { connectChannel, inMemory } from './fixtures.ts';

const JID = 'serial:uart_default';

test('an answer is a line of JSON, without the marks of Markdown', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const board = await server.plugged();
  await connected.channel.send({
    id: '1',
    jid: JID,
    text: 'Turn **pin 2** on:\n\n```\nx = 1\n```',
  });
  const [line = ''] = await board.read(1);
  expect(line).toBe('{"content":"Turn pin 2 on:\\n\\nx = 1","chat_id":"uart_default"}');
  expect(connected.channel.ownsJid(JID)).toBe(true);
  expect(connected.channel.ownsJid('serial:other')).toBe(false);
});

test('a long answer is several lines, in order', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url, { SERIAL_MAX_CHARS: '100' });
  const board = await server.plugged();
  const text = Array.from({ length: 40 }, (_, at) => `word${at}`).join(' ');
  await connected.channel.send({ id: '1', jid: JID, text });
  const lines = await board.read(3);
  const contents = lines.map((line) => JSON.parse(line).content as string);
  expect(contents.every((part) => part.length <= 100)).toBe(true);
  expect(contents.join(' ')).toBe(text);
});

test('what is on the line already is not written again, also by the next process', async () => {
  await using server = await LineServer.start();
  const disk = inMemory();
  const first = await connectChannel(server.url, {}, disk);
  const board = await server.plugged();
  await first.channel.send({ id: '1', jid: JID, text: 'once' });
  await board.read(1);
  await first.channel.disconnect();
  await using second = await connectChannel(server.url, {}, disk);
  const again = await server.plugged();
  await second.channel.send({ id: '1', jid: JID, text: 'once' });
  await second.channel.send({ id: '2', jid: JID, text: 'next' });
  expect((await again.read(1)).map((line) => JSON.parse(line).content)).toEqual(['next']);
});

test('after a line that may have been cut, the next one begins on a line of its own', async () => {
  await using server = await LineServer.start();
  const disk = inMemory();
  await using connected = await connectChannel(server.url, {}, disk);
  const board = await server.plugged();
  // As a process leaves it that is killed while it writes.
  disk([]).prepare("INSERT INTO written VALUES ('0', 0, 1, 0)").run();
  await connected.channel.send({ id: '1', jid: JID, text: 'whole' });
  const lines = await board.read(2);
  expect(lines[0]).toBe('');
  expect(JSON.parse(lines[1] ?? '').content).toBe('whole');
});

test('while the device is unplugged a message is refused, and the host keeps it', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url);
  const { channel, host } = connected;
  await server.plugged();
  await server[Symbol.asyncDispose]();
  await host.until(() => host.statuses.at(-1)?.state !== 'connected');
  await expect(channel.send({ id: '1', jid: JID, text: 'x' })).rejects.toThrow('is not there');
});
