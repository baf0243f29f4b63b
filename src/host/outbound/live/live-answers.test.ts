import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { UnknownDelivery } from '../../../channels/channel.ts';
import type { TurnOutcome } from '../../../sandbox/sandbox.ts';
import { answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { hears } from '../../../testing/turn/asking.ts';
import { EDITS, led, startWriting } from '../../../testing/turn/live-turn.ts';
import { FAMILY, isIdle, startWithFamily } from '../../../testing/turn/tasks.ts';

const FAILED: TurnOutcome = { kind: 'failed', code: 'MODEL_FAILED', message: 'It failed.' };

test('an answer is shown in steps, at most one a second, and its end replaces them', async () => {
  using project = new TestProject();
  const { turn, pass, shown, terminal, store, ...assistant } = await startWriting(project);
  turn.write('One');
  await pass(499);
  expect(shown()).toEqual([]);
  turn.write(' two');
  await pass(1);
  expect(shown()).toEqual(['One two']);
  for (const word of [' three', ' four', ' five']) {
    turn.write(word);
    await pass(300);
  }
  expect(shown()).toEqual(['One two']);
  await pass(100);
  expect(shown()).toEqual(['One two', 'One two three four five']);
  await pass(60_000);
  expect(shown().at(-1)).toBe('One two three four five');
  const [first, ...more] = terminal.drafts;
  expect(more.every(({ id }) => id === first?.id)).toBe(true);
  expect(terminal.sent).toEqual([]);
  turn.end(answers('One two three four five six'));
  await isIdle({ ...assistant, terminal, store });
  expect(terminal.sent).toEqual([
    {
      id: expect.any(String),
      jid: 'terminal:main',
      text: 'One two three four five six',
      replaces: first?.id,
    },
  ]);
  expect(terminal.sent[0]?.id).not.toBe(first?.id);
  expect(terminal.takenBack).toEqual([]);
  const { length } = shown();
  await pass(60_000);
  expect(shown()).toHaveLength(length);
  await assistant.stop();
});

test('a short answer, a channel without drafts and a task have none', async () => {
  using project = new TestProject();
  const { turn, pass, shown, terminal, chat, ...assistant } = await startWriting(project);
  turn.write('Quick');
  turn.end(answers('Quick'));
  await isIdle({ ...assistant, terminal, chat });
  await pass(5_000);
  await chat.say('@Andy now', { jid: FAMILY, isDirect: false });
  await turn.isAtWork();
  turn.write('Something');
  await pass(5_000);
  turn.end(answers('Something'));
  await isIdle({ ...assistant, terminal, chat });
  expect(shown()).toEqual([]);
  expect(chat.drafts).toEqual([]);
  expect(terminal.sent[0]).not.toHaveProperty('replaces');
  await assistant.stop();
});

test.each([
  ['fails', FAILED, 'It failed. Say `/retry` to try again.'],
  ['is stopped', null, 'Stopped.'],
])('of a turn that %s midway nothing stays as if it were an answer', async (_, outcome, told) => {
  using project = new TestProject();
  const { turn, pass, terminal, store, ...assistant } = await startWriting(project);
  turn.write('The answer is forty-');
  await pass(500);
  if (outcome === null) await terminal.say('/stop');
  turn.end(outcome ?? FAILED);
  await isIdle({ ...assistant, terminal, store });
  const end = terminal.sent.find(({ text }) => text === told);
  // What `/stop` says came after the draft: it is taken away, and the end is below.
  if (outcome === null) {
    expect(end).not.toHaveProperty('replaces');
    await vi.waitFor(() => expect(terminal.takenBack).toEqual([terminal.drafts[0]?.id]));
  } else {
    expect(end?.replaces).toBe(terminal.drafts[0]?.id);
  }
  expect(store.drafts.left()).toEqual([]);
  await assistant.stop();
});

test('a message in between moves the draft below it, and the answer comes after both', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, ...assistant } = await startWriting(project);
  turn.write('Let me see.');
  await pass(500);
  await turn.call('send_message', { text: 'By the way' });
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['By the way']));
  turn.write(' Done');
  await pass(1_000);
  const [first, second] = terminal.drafts;
  expect(terminal.takenBack).toEqual([first?.id]);
  expect(second).toMatchObject({ text: 'Let me see. Done' });
  expect(second?.id).not.toBe(first?.id);
  turn.end(answers('Let me see. Done.'));
  await isIdle({ ...assistant, terminal });
  expect(terminal.sent.at(-1)?.replaces).toBe(second?.id);
  await assistant.stop();
});

test('a draft that is always shown last stays where it is', async () => {
  using project = new TestProject();
  const can = { drafts: { everyMs: 60, staysLast: true } } as const;
  const { turn, pass, terminal, ...assistant } = await startWriting(project, can);
  turn.write('Let me see.');
  await pass(60);
  await turn.call('send_message', { text: 'By the way' });
  await pass(3_600_000);
  turn.write(' Done');
  await pass(60);
  turn.end(answers('Let me see. Done.'));
  await isIdle({ ...assistant, terminal });
  expect(new Set(terminal.drafts.map(({ id }) => id)).size).toBe(1);
  expect(terminal.sent.at(-1)?.replaces).toBe(terminal.drafts[0]?.id);
  await assistant.stop();
});

test('a follow-up that the agent takes has its answer below it', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, store, ...assistant } = await startWriting(project);
  const sent: string[] = [];
  turn.events()?.onReady?.(({ id }) => sent.push(id) > 0);
  turn.write('First part.');
  await pass(500);
  await terminal.say('and another thing');
  await vi.waitFor(() => expect(sent).toHaveLength(1));
  turn.events()?.onAccepted?.(sent[0] ?? '');
  turn.end(answers('First part.\n\nSecond part.'));
  await isIdle({ ...assistant, terminal, store });
  expect(terminal.sent).toMatchObject([{ text: 'First part.\n\nSecond part.' }]);
  expect(terminal.sent[0]).not.toHaveProperty('replaces');
  await vi.waitFor(() => expect(terminal.takenBack).toEqual([terminal.drafts[0]?.id]));
  await assistant.stop();
});

test('an answer that takes longer than apps allow edits is a new message', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, store, ...assistant } = await startWriting(project);
  turn.write('Once upon');
  await pass(500);
  await pass(20_000);
  await pass(11 * 60_000);
  turn.end(answers('Once upon a time'));
  await isIdle({ ...assistant, terminal, store });
  expect(terminal.sent.at(-1)).not.toHaveProperty('replaces');
  await vi.waitFor(() => expect(terminal.takenBack).toContain(terminal.drafts[0]?.id));
  expect(store.drafts.left()).toEqual([]);
  await assistant.stop();
});

test('steps that fail are spaced out and given up; the answer comes once, whole', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, shown, ...assistant } = await startWriting(project);
  terminal.draftFailures.push(...[1, 2, 3].map((n) => new Error(`no ${n}`)));
  for (const word of 'a b c d e f g h i j k l m n o p q r s t u v w x y z'.split(' ')) {
    turn.write(word);
    await pass(1_000);
  }
  expect(terminal.draftFailures).toEqual([]);
  expect(shown()).toEqual([]);
  turn.end(answers('abc'));
  await isIdle({ ...assistant, terminal });
  expect(textsOf(terminal)).toEqual(['abc']);
  await assistant.stop();
});

test('after a step of unknown outcome there is no other: it could be there twice', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, shown, ...assistant } = await startWriting(project);
  terminal.draftFailures.push(new UnknownDelivery('cut'));
  turn.write('a');
  await pass(500);
  turn.write('b');
  await pass(60_000);
  expect(shown()).toEqual([]);
  turn.end(answers('ab'));
  await isIdle({ ...assistant, terminal });
  expect(textsOf(terminal)).toEqual(['ab']);
  await assistant.stop();
});

test('an answer waits for a step that is on its way, which could overtake it', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, store, ...assistant } = await startWriting(project);
  const taken = Promise.withResolvers<void>();
  const draft = terminal.draft.bind(terminal);
  terminal.draft = async (step) => {
    await taken.promise;
    await draft(step);
  };
  turn.write('ab');
  await pass(500);
  turn.end(answers('abc'));
  await vi.waitFor(() => expect(store.turns.counts()).toMatchObject({ running: 0, unsent: 1 }));
  await setImmediate();
  expect(terminal.sent).toEqual([]);
  taken.resolve();
  await isIdle({ ...assistant, terminal, store });
  expect(terminal.drafts).toHaveLength(1);
  expect(terminal.sent).toMatchObject([{ text: 'abc', replaces: terminal.drafts[0]?.id }]);
  await assistant.stop();
});

test('while the channel is away, or something waits for it, no step is tried', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, shown, ...assistant } = await startWriting(project);
  terminal.become({ state: 'connecting', detail: null });
  turn.write('ab');
  await pass(5_000);
  await turn.call('send_message', { text: 'first' });
  expect(shown()).toEqual([]);
  terminal.become({ state: 'connected', detail: null });
  await hears(terminal, 'first');
  await pass(1_000);
  expect(shown()).toEqual(['ab']);
  turn.end(answers('ab'));
  await isIdle({ ...assistant, terminal });
  await assistant.stop();
});

test('in a group the draft shows at once which message it answers, in its thread', async () => {
  using project = new TestProject();
  const turn = led();
  const assistant = await startWithFamily(project, turn.agent);
  const { chat, clock } = assistant;
  chat.capabilities = { ...EDITS, replyTo: true, thread: true };
  const place = { jid: FAMILY, isDirect: false, id: 'q1', thread: 't7', sender: 'bob' };
  await chat.say('@Andy slow', place);
  await turn.isAtWork();
  turn.write('Well');
  clock.pass(500);
  await vi.waitFor(() => expect(chat.drafts).toHaveLength(1));
  const replyTo = { id: 'q1', sender: 'bob', text: '@Andy slow' };
  expect(chat.drafts[0]).toMatchObject({ text: 'Well', replyTo, thread: 't7' });
  await chat.say('nice weather', { jid: FAMILY, isDirect: false, sender: 'eve' });
  turn.end(answers('Well, yes.'));
  await isIdle(assistant);
  expect(chat.sent[0]).toMatchObject({ text: 'Well, yes.', replaces: chat.drafts[0]?.id });
  await assistant.stop();
});

test('a picture that goes along is its words already while the answer is written', async () => {
  using project = new TestProject({ 'groups/main/cat.png': 'x' });
  const { turn, pass, terminal, shown, ...assistant } = await startWriting(project);
  const text = '![a cat](cat.png)\n\nThere it is.';
  turn.write(text);
  await pass(500);
  expect(shown()).toEqual(['[a cat]\n\nThere it is.']);
  turn.end(answers(text));
  await isIdle({ ...assistant, terminal });
  expect(terminal.sent[0]?.text).toContain('[a cat]\n\nThere it is.');
  await assistant.stop();
});
