import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HAS_PTY, LineServer, startPtyBoard } from './board.ts';
import { connectChannel, createChannel, HostEnd } from './fixtures.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'claw-serial-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('without a port there is no channel, and a port that is none is named', () => {
  expect(createChannel({ SERIAL_ALLOW_FROM: '*' }, new HostEnd())).toBeNull();
  expect(() => createChannel({ SERIAL_PORT: 'COM3' }, new HostEnd())).toThrow('/dev/ttyUSB0');
});

test('with an empty list the line is not opened, and the status names the line to add', async () => {
  await using connected = await connectChannel('/dev/null', { SERIAL_ALLOW_FROM: ' , ' });
  expect(connected.channel.status()).toEqual({
    state: 'refused',
    detail: expect.stringContaining('SERIAL_ALLOW_FROM=uart_user'),
  });
});

test('only senders on the list get through; others are counted; a star lets everybody in', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url, { SERIAL_ALLOW_FROM: 'esp32' });
  const { host } = connected;
  const board = await server.plugged();
  board.say(
    'let me in\n{"content": "x", "sender_id": "eve"}\n{"content": "y", "sender_id": "esp32"}\n',
  );
  await host.until(() => host.messages.length === 1);
  expect(host.texts).toEqual(['y']);
  expect(host.strangers).toEqual(['uart_user', 'eve']);
  await using open = await connectChannel(server.url, { SERIAL_ALLOW_FROM: '*' });
  const other = await server.plugged();
  other.say('hello\n');
  await open.host.until(() => open.host.messages.length === 1);
});

test('with SERIAL_IS_OWNER=yes the chat is the owner’s own', async () => {
  await using server = await LineServer.start();
  await using connected = await connectChannel(server.url, { SERIAL_IS_OWNER: 'yes' });
  const { host } = connected;
  const board = await server.plugged();
  expect(host.chats).toMatchObject([{ jid: 'serial:uart_default', isOwners: true }]);
  board.say('/status\n');
  await host.until(() => host.messages.length === 1);
  expect(host.messages[0]?.isOwner).toBe(true);
});

test.each([
  ['a file', 'failed', 'is not a serial line'],
  ['nothing', 'connecting', 'Plug the device in'],
])(
  'where the port is %s the status says so, and the channel goes on trying',
  async (what, state, detail) => {
    const path = join(temporaryFolder(), 'port');
    if (what === 'a file') writeFileSync(path, '');
    await using connected = await connectChannel(path);
    expect(connected.channel.status()).toEqual({ state, detail: expect.stringContaining(detail) });
  },
);

test('a server that is not there, and comes', async () => {
  const gone = await LineServer.start();
  const { port } = gone;
  await gone[Symbol.asyncDispose]();
  await using connected = await connectChannel(`tcp://127.0.0.1:${port}`);
  const { host } = connected;
  expect(connected.channel.status()).toEqual({
    state: 'failed',
    detail: `127.0.0.1:${port} cannot be opened (ECONNREFUSED: nothing listens there; check the address, and whether the server runs).`,
  });
  await using server = await LineServer.start(port);
  await host.until(() => host.statuses.at(-1)?.state === 'connected');
  (await server.plugged()).say('hello\n');
  await host.until(() => host.messages.length === 1);
});

test.skipIf(!HAS_PTY)(
  'a device is opened raw, unplugged, and found again under its name',
  async () => {
    const link = join(temporaryFolder(), 'ttyBOARD');
    const first = await startPtyBoard();
    symlinkSync(first.path, link);
    await using connected = await connectChannel(link, { SERIAL_BAUD: '9600' });
    const { channel, host } = connected;
    expect(channel.status()).toEqual({ state: 'connected', detail: null });
    // Control characters mean nothing on a raw line.
    first.board.say('\u0003 \u0004 {"content": "no"}\n{"content": "yes"}\n');
    await host.until(() => host.messages.length === 2);
    expect(host.texts[1]).toBe('yes');
    await channel.send({ id: '1', jid: 'serial:uart_default', text: 'hello' });
    expect(await first.board.read(1)).toEqual(['{"content":"hello","chat_id":"uart_default"}']);
    await first.unplug();
    await host.until(() => host.statuses.at(-1)?.state === 'connecting');
    expect(channel.status().detail).toContain('Plug the device in');
    const second = await startPtyBoard();
    rmSync(link);
    symlinkSync(second.path, link);
    await host.until(() => host.statuses.at(-1)?.state === 'connected');
    second.board.say('back\n');
    await host.until(() => host.messages.length === 3);
    expect(host.texts[2]).toBe('back');
    await second.unplug();
  },
);
