import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  BERT,
  type LinkedToAnna,
  linkToAnna,
  unlink,
} from '../../../testing/whatsapp/linked-to-anna.ts';

let server: LinkedToAnna['server'];
let linked: LinkedToAnna['linked'];
let anna: LinkedToAnna['anna'];
beforeEach(async () => {
  ({ server, linked, anna } = await linkToAnna());
});
afterEach(() => unlink({ server, linked }));

test('a reaction names the message that it is on, by all of its parts, also after a restart', async () => {
  await linked.channel.send({
    id: 'q1',
    jid: anna.pn,
    text: `${'word '.repeat(1_500)}\n\nShall I?`,
  });
  const parts = anna.read.map(({ id }) => id);
  expect(parts.length).toBeGreaterThan(1);
  await linked.restart();
  linked.reactionOutcome = 'answered';
  for (const [at, id] of parts.entries()) {
    const key = { remoteJid: server.account.pn, id, fromMe: false };
    await server.say(anna, { reactionMessage: { key, text: at === 0 ? '👍' : '' } });
  }
  await linked.until(() => linked.reactions.length === parts.length);
  const told = { jid: anna.pn, sender: anna.pn, isOwner: false, messageId: 'q1' };
  expect(linked.reactions[0]).toEqual({ ...told, emoji: '👍' });
  expect(linked.reactions.at(-1)).toEqual({ ...told, emoji: null });
  expect(linked.messages).toEqual([]);
});

test('in a group a reaction is that of its sender; on other messages it is something to know', async () => {
  const bert = server.person(BERT);
  const jid = '120363000000000001@g.us';
  const group = server.group({ jid, subject: 'Family', addressing: 'lid', members: [anna, bert] });
  await linked.channel.send({ id: 'q1', jid, text: 'Shall I?' });
  const { id } = await anna.next();
  const key = { remoteJid: jid, id, participant: anna.lid, fromMe: false };
  await server.say(bert, { reactionMessage: { key, text: '👍' } }, { group });
  await linked.until(() => linked.messages.length === 1);
  expect(linked.reactions).toEqual([
    { jid, sender: bert.pn, isOwner: false, messageId: 'q1', emoji: '👍' },
  ]);
  expect(linked.messages[0]).toMatchObject({ isContext: true, sender: bert.pn });
  const other = { remoteJid: jid, id: 'OF-ANNA', participant: anna.lid, fromMe: false };
  await server.say(bert, { reactionMessage: { key: other, text: '👎' } }, { group });
  await linked.until(() => linked.messages.length === 2);
  expect(linked.reactions).toHaveLength(1);
});
