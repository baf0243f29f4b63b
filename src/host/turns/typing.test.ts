import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Channel } from '../../channels/channel.ts';
import { openTyping } from './typing.ts';

const JID = 'fake:ada';

function typingWithLog() {
  const log: string[] = [];
  const setTyping: Channel['setTyping'] = async (_jid, isTyping) => {
    log.push(isTyping ? 'shown' : 'taken away');
  };
  const channel: Pick<Channel, 'setTyping'> = { setTyping };
  return { log, typing: openTyping(() => channel as Channel, 60_000) };
}

test('the work begins before the channel has anything to do, and its end takes the indicator away', async () => {
  const { log, typing } = typingWithLog();
  await typing.during(JID, async () => {
    await Promise.resolve();
    log.push('at work');
    await nextTurn();
    await nextTurn();
  });
  expect(log).toEqual(['at work', 'shown', 'taken away']);
});

test('work that is over at once shows nothing', async () => {
  const { log, typing } = typingWithLog();
  await typing.during(JID, async () => {});
  await nextTurn();
  expect(log).toEqual([]);
});

test('with two works at once it is shown once, until the last ends', async () => {
  const { log, typing } = typingWithLog();
  const long = Promise.withResolvers<void>();
  const outer = typing.during(JID, () => long.promise);
  await typing.during(JID, async () => await nextTurn());
  await nextTurn();
  expect(log).toEqual(['shown']);
  long.resolve();
  await outer;
  expect(log).toEqual(['shown', 'taken away']);
});
