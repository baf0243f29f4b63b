import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { answers, TestProject } from '../../../../testing/assistant.ts';
import { EDITS, led, startWriting } from '../../../../testing/turn/live-turn.ts';
import { isIdle, startWithFamily } from '../../../../testing/turn/tasks.ts';

test('after a crash the turn runs again and its answer replaces what the dead process had shown', async () => {
  using project = new TestProject();
  const first = await startWriting(project);
  first.turn.write('The answer is forty-');
  await first.pass(500);
  const [draft] = first.terminal.drafts;
  // What is killed stores no end.
  first.store.close();
  const turn = led();
  const second = await startWithFamily(project, turn.agent, first.clock);
  second.terminal.capabilities = EDITS;
  await turn.isAtWork();
  turn.write('Forty-two');
  second.clock.pass(500);
  await vi.waitFor(() => expect(second.terminal.drafts).toHaveLength(1));
  expect(second.terminal.drafts[0]).toMatchObject({ id: draft?.id, text: 'Forty-two' });
  turn.end(answers('Forty-two.'));
  await isIdle(second);
  expect(second.terminal.sent).toMatchObject([{ text: 'Forty-two.', replaces: draft?.id }]);
  await second.stop();
});

test('a crash while the answer replaces its draft repeats that once, as the same message', async () => {
  using project = new TestProject();
  const first = await startWriting(project);
  const { terminal, turn } = first;
  turn.write('ab');
  await first.pass(500);
  const sending = Promise.withResolvers<void>();
  terminal.send = async () => {
    sending.resolve();
    await new Promise(() => {});
  };
  turn.end(answers('abc'));
  await sending.promise;
  // It hangs there for ever: to the next process it is dead. Its store stays open, since it gives up a minute later.
  await setImmediate();
  const { now, setTimer } = first.clock;
  const second = await project.start({ capabilities: EDITS, over: { now, setTimer } });
  await isIdle(second);
  expect(second.terminal.sent).toMatchObject([{ text: 'abc', replaces: terminal.drafts[0]?.id }]);
  await second.stop();
});

test('a draft that could not be taken away is taken away by the next process', async () => {
  using project = new TestProject();
  const first = await startWriting(project);
  const { terminal, turn } = first;
  turn.write('ab');
  await first.pass(500);
  await turn.call('send_message', { text: 'By the way' });
  terminal.draftFailures.push(...[1, 2, 3, 4].map((n) => new Error(`no ${n}`)));
  turn.end(answers('abc'));
  await isIdle(first);
  await setImmediate();
  expect(terminal.takenBack).toEqual([]);
  await first.stop();
  const second = await startWithFamily(project, led().agent, first.clock);
  second.terminal.capabilities = EDITS;
  second.terminal.become({ state: 'connected', detail: null });
  await vi.waitFor(() => expect(second.terminal.takenBack).toEqual([terminal.drafts[0]?.id]));
  expect(second.store.drafts.left()).toEqual([]);
  await second.stop();
});
