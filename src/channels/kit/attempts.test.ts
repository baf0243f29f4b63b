import { expect, onTestFinished, test } from 'vitest';
import { openMemoryDatabases } from '../../store/own-databases.ts';
import { ATTEMPT_MIGRATION, findLost, openAttempts } from './attempts.ts';
import { openSentMessages } from './sent-messages.ts';

const JID = 'far:1';
const DAY_MS = 86_400_000;

/** What a channel has on its disk; a second start opens the same again. */
function disk() {
  const databases = openMemoryDatabases({ now: Date.now });
  onTestFinished(() => databases.close());
  const openDatabase = databases.of('channel', 'far');
  return (now = 0) => {
    const clock = { at: now };
    const sent = openSentMessages(openDatabase, () => clock.at, [ATTEMPT_MIGRATION]);
    return { clock, sent, attempts: openAttempts(openDatabase, () => clock.at) };
  };
}

test('the next process looks for parts that an earlier one began to send: of the message, and of the draft that it replaces', async () => {
  const start = disk();
  const first = start();
  const begun = { jid: JID, thread: 't', text: 'half' };
  first.attempts.begin({ ...begun, id: 'd1', part: 0 });
  first.attempts.begin({ ...begun, id: 'd1', part: 1 });
  first.attempts.begin({ ...begun, id: 'm1', part: 0 });
  first.attempts.end({ id: 'm1', part: 0 });

  const { attempts, sent } = start();
  const asked: string[] = [];
  const find = async ({ id, part, text }: { id: string; part: number; text: string }) => {
    asked.push(`${id} ${part} ${text}`);
    return part === 0 ? { farId: 'far-0', text } : null;
  };
  await findLost({ attempts, sent, find }, { jid: JID, id: 'm1', replaces: 'd1' });
  expect(asked).toEqual(['d1 0 half', 'd1 1 half']);
  expect(sent.partsOf('m1', 'd1')).toEqual(['far-0']);
  expect(sent.shows({ jid: JID, farId: 'far-0', text: 'half' })).toBe(true);
  // What was not there may still be found later.
  expect(attempts.of('d1').map(({ part }) => part)).toEqual([1]);
});

test('if the far end does not answer, nothing is forgotten', async () => {
  const { attempts, sent } = disk()();
  attempts.begin({ id: 'd1', part: 0, jid: JID, thread: null, text: 'half' });
  const find = () => Promise.reject(new Error('away'));
  await expect(findLost({ attempts, sent, find }, { jid: JID, id: 'd1' })).rejects.toThrow('away');
  expect(attempts.of('d1')).toHaveLength(1);
});

test('an attempt that is repeated counts from its first time on, and ends with its chat or after a month', () => {
  const start = disk();
  const { attempts, clock } = start(1_000);
  const begun = { part: 0, thread: null };
  attempts.begin({ ...begun, id: 'd1', jid: JID, text: 'one' });
  clock.at = 2_000;
  attempts.begin({ ...begun, id: 'd1', jid: JID, text: 'two' });
  attempts.begin({ ...begun, id: 'd2', jid: 'far:2', text: 'other' });
  expect(attempts.of('d1')).toEqual([{ part: 0, thread: null, text: 'two', begunAt: 1_000 }]);
  attempts.forgetChat(JID);
  expect(attempts.of('d1')).toEqual([]);
  expect(start(20 * DAY_MS).attempts.of('d2')).toHaveLength(1);
  expect(start(31 * DAY_MS).attempts.of('d2')).toEqual([]);
});
