import { expect, test, vi } from 'vitest';
import { answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { TestClock } from '../../testing/clock.ts';
import { lateNotice } from './owner-digests.ts';

const FAMILY = { jid: 'chat:family', isDirect: false, isOwner: false, chatName: 'Family' };
const TIMED_OUT = { isContext: true, isLate: true };

test('messages that came too late are reported to the owner in one line, once all have arrived, also after a restart', async () => {
  using project = new TestProject();
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const prompts: string[] = [];
  const parts = {
    over: { now: clock.now, setTimer: clock.setTimer },
    agent: async ({ prompt }: { readonly prompt: string }) => {
      prompts.push(prompt);
      return answers('pong');
    },
  };
  const first = await project.start(parts);
  await first.chat.meet(FAMILY.jid, 'Family');
  await first.terminal.say('/register Family');
  await vi.waitFor(() => expect(first.terminal.sent).toHaveLength(1));
  for (const id of ['a', 'b', 'b', 'c']) {
    await first.chat.say('@Andy dinner?', { ...FAMILY, ...TIMED_OUT, id });
    clock.pass(9_000);
  }
  // Of a chat that nobody registered nothing is known, not even how much was said.
  await first.chat.say('psst', { ...FAMILY, ...TIMED_OUT, jid: 'chat:other' });
  await first.stop();

  const second = await project.start(parts);
  await second.chat.say('@Andy dessert?', { ...FAMILY, ...TIMED_OUT, id: 'd' });
  clock.pass(9_999);
  expect(second.terminal.sent).toEqual([]);
  clock.pass(1);
  const notice = 'While I was away: 4 older messages in 1 chat were not answered: Family 4.';
  await vi.waitFor(() => expect(textsOf(second.terminal)).toEqual([notice]));
  clock.pass(60_000);
  await second.chat.say('@Andy now?', FAMILY);
  await vi.waitFor(() => expect(second.chat.sent).toHaveLength(1));
  expect(prompts).toEqual([
    expect.stringMatching(/dinner.*\n.*dinner.*\n.*dinner.*\n.*dessert.*\n.*now/),
  ]);
  expect(textsOf(second.terminal)).toEqual([notice]);
  await second.stop();
});

test('the line names the chats with most of it', () => {
  expect(lateNotice([{ name: 'Ada', messages: 1 }])).toBe(
    'While I was away: 1 older message in 1 chat was not answered: Ada 1.',
  );
  const many = Array.from({ length: 10 }, (_, index) => ({
    name: `C${index}`,
    messages: 20 - index,
  }));
  expect(lateNotice(many)).toMatch(
    /^While I was away: 155 older messages in 10 chats .* C0 20, .* C7 13 and 2 more\.$/,
  );
});
