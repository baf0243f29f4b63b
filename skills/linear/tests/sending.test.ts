import { expect, test } from 'vitest';
import { connect, inMemory, JID } from './fixtures.ts';
import { LinearServer, ME, refusal } from './linear-server.ts';

test('a comment is made once, also where its answer was lost and the process ended', async () => {
  await using linear = await new LinearServer().comeUp();
  linear.open(ME, 'Old');
  const message = { id: 'm1', jid: 'linear:ENG-1', text: 'Done.' };
  {
    await using first = await connect(linear);
    linear.fail('lost');
    await expect(first.channel.send(message)).rejects.toThrow('cannot be reached');
  }
  // With a disk on which nothing of it was noted.
  await using second = await connect(linear, { openDatabase: inMemory() });
  await second.channel.send(message);
  expect(linear.posted.map(({ body }) => body)).toEqual(['Done.']);
});

test('progress changes one comment; one that was deleted meanwhile is made again', async () => {
  await using linear = await new LinearServer().comeUp();
  linear.open(ME, 'Old');
  await using connected = await connect(linear);
  const send = (id: string, text: string, replaces?: string) =>
    connected.channel.send({
      id,
      jid: 'linear:ENG-1',
      text,
      ...(replaces === undefined ? {} : { replaces }),
    });
  await send('p1', 'Reading');
  await send('p2', 'Writing', 'p1');
  expect(linear.posted.map(({ body }) => body)).toEqual(['Writing']);
  linear.comments = [];
  await send('p3', 'Done', 'p2');
  expect(linear.posted.map(({ body }) => body)).toEqual(['Done']);
});

test('a limit is waited for as its headers say, whichever of the two it is', async () => {
  await using linear = await new LinearServer().comeUp();
  linear.open(ME, 'Old');
  await using connected = await connect(linear);
  const headers = {
    'x-ratelimit-requests-remaining': '10',
    'x-ratelimit-requests-reset': String(Date.now() + 3_600_000),
    'x-ratelimit-complexity-remaining': '0',
    'x-ratelimit-complexity-reset': String(Date.now() + 4_000),
  };
  linear.fail(refusal(400, 'RATELIMITED', 'Rate limit exceeded', headers));
  await connected.channel.send({ id: 'm1', jid: 'linear:ENG-1', text: 'Late.' });
  const long = { ...headers, 'x-ratelimit-complexity-reset': String(Date.now() + 3_600_000) };
  linear.fail(refusal(400, 'RATELIMITED', 'Rate limit exceeded', long));
  const refused = connected.channel.send({ id: 'm2', jid: 'linear:ENG-1', text: 'Later.' });
  await expect(refused).rejects.toThrow('Linear asks for a pause');
  expect(linear.posted.map(({ body }) => body)).toEqual(['Late.']);
});

test('what answers nothing has no issue, and an issue that is gone is said in words', async () => {
  await using linear = await new LinearServer().comeUp();
  await using connected = await connect(linear);
  const { channel } = connected;
  await expect(channel.send({ id: 'm1', jid: JID, text: 'Hello?' })).rejects.toThrow(
    'belongs to no issue',
  );
  const gone = channel.send({ id: 'm2', jid: JID, text: 'Hello?', thread: 'no-such-issue' });
  await expect(gone).rejects.toThrow('is gone from Linear');
  expect(
    ['linear:ENG-12', JID, 'linear:', 'telegram:1'].map((jid) => channel.ownsJid(jid)),
  ).toEqual([true, true, false, false]);
  expect(channel.status().state).toBe('connected');
});
