import { expect, test } from 'vitest';
import { ADA, BOT, connectChannel, ENCRYPTED, EVE, HALL, SECRET, startServer } from './fixtures.ts';
import type { Json } from './matrix-server.ts';

const MEGOLM = 'm.megolm.v1.aes-sha2';
const GARBAGE: readonly Json[] = [
  {},
  { algorithm: 7 },
  { algorithm: 'm.unknown', ciphertext: 'x' },
  { algorithm: 'm.olm.v1.curve25519-aes-sha2', ciphertext: {}, sender_key: '' },
  { algorithm: MEGOLM },
  { algorithm: MEGOLM, ciphertext: '', session_id: '', sender_key: '', device_id: '' },
  { algorithm: MEGOLM, ciphertext: '%%%', session_id: {}, sender_key: [], device_id: 1 },
  { algorithm: MEGOLM, ciphertext: 'A'.repeat(50_000), session_id: 'x'.repeat(50_000) },
];

test('encrypted events that are none harm nothing: the next message arrives', async () => {
  await using server = await startServer();
  server.addRoom(SECRET, [ADA, BOT], [ENCRYPTED]);
  await using account = await connectChannel(server);
  for (const content of GARBAGE) server.push(SECRET, ADA, 'm.room.encrypted', content);
  server.say(HALL, ADA, 'still there?', { 'm.mentions': { user_ids: [BOT] } });
  await server.until(() => account.host.heard.includes('still there?'));
  expect(account.channel.status().state).toBe('connected');
});

test('who may not write does not make a room an encrypted one', async () => {
  await using server = await startServer();
  await using account = await connectChannel(server);
  server.push(HALL, EVE, 'm.room.encrypted', { algorithm: MEGOLM, ciphertext: 'AA' });
  server.say(HALL, ADA, 'still plain?', { 'm.mentions': { user_ids: [BOT] } });
  await server.until(() => account.host.heard.includes('still plain?'));
  await account.channel.send({ id: 'm1', jid: `matrix:${HALL}`, text: 'It is.' });
  expect(server.events(HALL).at(-1)).toMatchObject({
    sender: BOT,
    type: 'm.room.message',
    content: { body: 'It is.' },
  });
});
