import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  BERT,
  type LinkedToAnna,
  linkToAnna,
  unlink,
} from '../../../testing/whatsapp/linked-to-anna.ts';
import type { Person, ReadMessage } from '../../../testing/whatsapp/people/person.ts';
import { voteOn } from '../../../testing/whatsapp/people/vote.ts';
import { messageIdOf } from '../outbound/sent.ts';

const CHOICES = {
  question: 'q1',
  text: 'The wall is dry.\n\nWhich *colour*?',
  options: [
    { word: 'red', label: 'red, as before' },
    { word: 'blue', label: 'blue' },
  ],
};
const NUMBERED = 'The wall is dry.\n\nWhich colour?\n\n1. red, as before\n2. blue\n\nSay a number.';

let server: LinkedToAnna['server'];
let linked: LinkedToAnna['linked'];
let anna: LinkedToAnna['anna'];
beforeEach(async () => {
  ({ server, linked, anna } = await linkToAnna());
});
afterEach(() => unlink({ server, linked }));

async function pollTo(jid: string, reader: Person): Promise<ReadMessage> {
  await linked.channel.send({ id: 'out', jid, text: NUMBERED, choices: CHOICES });
  const poll = reader.read.at(-1);
  if (poll === undefined) throw new Error('no poll came');
  return poll;
}

test('choices are a poll below the text that numbers them, and the same one however often it is sent', async () => {
  const poll = await pollTo(anna.pn, anna);
  expect(anna.read.map(({ text }) => text)[0]).toBe(NUMBERED);
  expect(poll.id).toBe(messageIdOf('out', 'poll'));
  expect(poll.message.pollCreationMessageV3).toMatchObject({
    name: 'Which colour?',
    selectableOptionsCount: 1,
    options: [{ optionName: 'red, as before' }, { optionName: 'blue' }],
  });
  const sent = server.sent.find(({ attrs }) => attrs['id'] === poll.id);
  expect(JSON.stringify(sent)).toContain('"polltype":"creation"');
  await linked.restart();
  await pollTo(anna.pn, anna);
  expect(anna.read).toHaveLength(2);
  // Who could not read it gets the same poll again, with the key for its votes.
  server.askAgain(anna.lid, poll.id);
  await expect.poll(() => anna.read.length).toBe(3);
  expect(anna.read[2]?.message).toEqual(poll.message);
});

test.each([
  ['lid', 'pn'],
  ['lid', 'lid'],
  ['pn', 'pn'],
  ['pn', 'lid'],
] as const)(
  'a vote is read that is encrypted for the %s of the assistant under the %s of the voter',
  async (creator, voter) => {
    const poll = await pollTo(anna.pn, anna);
    await linked.restart();
    const under = { creator: server.account[creator], voter: anna[voter] };
    await server.say(anna, voteOn(poll, ['blue'], under), { isAlone: true });
    await linked.until(() => linked.choices.length === 1);
    const { pn: jid } = anna;
    const word = 'blue';
    expect(linked.choices).toEqual([{ jid, sender: jid, isOwner: false, question: 'q1', word }]);
    expect(linked.messages).toEqual([]);
  },
);

test('in a group a vote is that of its sender, whatever it claims, and the owner’s is the owner’s', async () => {
  const bert = server.person(BERT);
  const jid = '120363000000000001@g.us';
  const group = server.group({ jid, subject: 'Family', addressing: 'lid', members: [anna, bert] });
  const poll = await pollTo(jid, anna);
  const under = (voter: string) => ({ creator: server.account.lid, voter });
  // Bert votes as Anna: the key of the votes is everybody's, the session is his own.
  await server.say(bert, voteOn(poll, ['blue'], under(anna.lid)), { group });
  await server.say(bert, voteOn(poll, ['red, as before'], under(bert.lid)), { group });
  await server.say(anna, voteOn(poll, ['blue'], under(anna.lid)), { group });
  const own = voteOn(poll, ['blue'], under(server.account.lid));
  await server.sayOnPhone(own, jid, { group, as: 'lid' });
  await linked.until(() => linked.choices.length === 3);
  expect(linked.choices.map(({ sender, isOwner, word }) => [sender, isOwner, word])).toEqual([
    [expect.stringContaining('2'), false, 'red'],
    [expect.stringContaining('1'), false, 'blue'],
    [server.account.pn, true, 'blue'],
  ]);
  const [berts, annas] = linked.choices.map(({ sender }) => sender);
  expect([bert.pn, bert.lid]).toContain(berts);
  expect([anna.pn, anna.lid]).toContain(annas);
});

test('a vote in another chat, for nothing, for two options or on another poll decides nothing', async () => {
  const bert = server.person(BERT);
  const poll = await pollTo(anna.pn, anna);
  const under = (person: Person) => ({ creator: server.account.lid, voter: person.lid });
  await server.say(bert, voteOn(poll, ['blue'], under(bert)));
  await server.say(anna, voteOn(poll, [], under(anna)));
  await server.say(anna, voteOn(poll, ['blue', 'red, as before'], under(anna)));
  await server.say(anna, voteOn(poll, ['green'], under(anna)));
  await server.say(anna, voteOn({ ...poll, id: 'other' }, ['blue'], under(anna)));
  await server.say(anna, 'well?');
  await linked.until(() => linked.messages.length === 1);
  expect(linked.choices).toEqual([]);
});

test('a vote that the host could not store comes again after a restart', async () => {
  const poll = await pollTo(anna.pn, anna);
  linked.beforeChosen = () => Promise.reject(new Error('disk full'));
  await server.say(anna, voteOn(poll, ['blue'], { creator: server.account.lid, voter: anna.pn }));
  await expect.poll(() => linked.logged.join()).toContain('was not stored');
  await linked.channel.disconnect();
  linked.beforeChosen = async () => {};
  await linked.restart();
  await linked.until(() => linked.choices.length === 1);
});

test('choices that no poll can show are only in the text', async () => {
  const same = { word: 'green', label: 'blue' };
  const choices = { ...CHOICES, options: [...CHOICES.options, same] };
  await linked.channel.send({ id: 'out', jid: anna.pn, text: NUMBERED, choices });
  expect(anna.read.map(({ text }) => text)).toEqual([NUMBERED]);
});
