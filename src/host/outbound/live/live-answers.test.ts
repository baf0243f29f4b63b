import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { type ChannelCapabilities, UnknownDelivery } from '../../../channels/channel.ts';
import type { TurnEvents, TurnOutcome } from '../../../sandbox/sandbox.ts';
import { hears } from '../../../testing/asking.ts';
import { type AgentScript, answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { FAMILY, isIdle, startWithFamily } from '../../../testing/tasks.ts';

const EDITS: ChannelCapabilities = { edits: true, drafts: { everyMs: 1_000 } };

/** An agent whose turn the test leads: it writes, works and ends when the test says so. */
function led() {
  let events: TurnEvents | null = null;
  let end: (outcome: TurnOutcome) => void = () => {};
  const agent: AgentScript = (_request, given) => {
    events = given;
    const { promise, resolve } = Promise.withResolvers<TurnOutcome>();
    end = resolve;
    return promise;
  };
  return {
    agent,
    isAtWork: () => vi.waitFor(() => expect(events).not.toBeNull()),
    write: (text: string) => events?.onText?.(text),
    call: (name: string, input: object) => events?.onTool({ folder: 'main', name, input }),
    events: () => events,
    end(outcome: TurnOutcome) {
      events = null;
      end(outcome);
    },
  };
}

/** Starts an assistant whose terminal shows drafts as a messenger does, with a turn at work. */
async function startWriting(project: TestProject, can = EDITS) {
  const turn = led();
  const assistant = await startWithFamily(project, turn.agent);
  const { terminal, clock } = assistant;
  terminal.capabilities = can;
  await terminal.say('Tell me all of it', { id: 'q1' });
  await turn.isAtWork();
  /** Lets time pass until a step, if any, is on the screen. */
  const pass = async (ms: number) => {
    clock.pass(ms);
    await setImmediate();
    await setImmediate();
  };
  const shown = () => terminal.drafts.map(({ text }) => text);
  return { ...assistant, turn, pass, shown };
}

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
  ['is stopped', null, 'Stopped, as the owner asked.'],
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

test('what comes in between moves the draft below it, and the answer after both', async () => {
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
  const { terminal, store, turn } = first;
  turn.write('ab');
  await first.pass(500);
  const sending = Promise.withResolvers<void>();
  terminal.send = async () => {
    sending.resolve();
    await new Promise(() => {});
  };
  turn.end(answers('abc'));
  await sending.promise;
  // The turn has ended when its answer is on the way; nothing of it runs on a closed store.
  await setImmediate();
  store.close();
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

test('a turn of more than 20 s says what it does: below its draft, and elsewhere in one message', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, chat, ...assistant } = await startWriting(project);
  await pass(19_999);
  expect(terminal.drafts).toEqual([]);
  await pass(1);
  await pass(500);
  expect(terminal.drafts.at(-1)).toMatchObject({ text: '', activity: 'thinking' });
  await pass(60_000);
  expect(terminal.drafts).toHaveLength(1);
  turn.write('Well');
  await pass(1_000);
  expect(terminal.drafts.at(-1)).toMatchObject({ text: 'Well', activity: null });
  turn.end(answers('Well.'));
  await isIdle({ ...assistant, terminal, chat });
  expect(terminal.sent).toMatchObject([{ text: 'Well.', replaces: terminal.drafts[0]?.id }]);
  await chat.say('@Andy now', { jid: FAMILY, isDirect: false });
  await turn.isAtWork();
  await pass(60_000);
  await hears(chat, '… thinking');
  turn.write('some');
  await pass(60_000);
  turn.end(answers('something'));
  await isIdle({ ...assistant, terminal, chat });
  expect(textsOf(chat)).toEqual(['… thinking', 'something']);
  await assistant.stop();
});

test('what runs is told in its own words or by its name, while it runs; a question waits for a person', async () => {
  using project = new TestProject();
  const { turn, pass, terminal, ...assistant } = await startWriting(project);
  const lines = () => terminal.drafts.map(({ activity }) => activity);
  const own = (id: string, name: string, doing?: string) =>
    turn.events()?.onOwnToolRun?.({ kind: 'began', id, name, doing });
  const ended = (id: string) => turn.events()?.onOwnToolRun?.({ kind: 'ended', id, error: null });
  own('1', 'read_file', 'reading files');
  await pass(19_999);
  expect(lines()).toEqual([]);
  await pass(1);
  await pass(500);
  expect(lines()).toEqual(['reading files']);
  own('2', 'crm__look_up');
  await pass(1_000);
  ended('2');
  await pass(1_000);
  ended('1');
  await pass(1_000);
  own('3', 'shell', `**rm**\n\n${'very '.repeat(20)}`);
  await pass(1_000);
  ended('3');
  expect(lines()).toEqual([
    'reading files',
    'using crm: look up',
    'reading files',
    'thinking',
    `rm ${'very '.repeat(11)}v…`,
  ]);
  // A host tool, whose guard asks the owner.
  const asked = turn.events()?.onAsk?.({ text: 'Really?', choices: [] });
  await hears(terminal, 'Really?');
  await pass(5_000);
  expect(lines().at(-1)).toBe('waiting for an answer');
  await terminal.say('yes');
  expect(await asked).toMatchObject({ word: 'yes' });
  turn.end(answers('Done.'));
  await isIdle({ ...assistant, terminal });
  await assistant.stop();
});

test('a chat that shows no drafts is told once what is done, and not while a person is asked', async () => {
  using project = new TestProject();
  const turn = led();
  const assistant = await startWithFamily(project, turn.agent);
  const { chat, terminal, clock } = assistant;
  await chat.say('@Andy now', { jid: FAMILY, isDirect: false });
  await turn.isAtWork();
  const asked = turn.events()?.onAsk?.({ text: 'Really?', choices: [] });
  await hears(terminal, 'Really?');
  clock.pass(60_000);
  await terminal.say('yes');
  await asked;
  expect(textsOf(chat)).toEqual([]);
  turn
    .events()
    ?.onOwnToolRun?.({ kind: 'began', id: '1', name: 'shell', doing: 'running a command' });
  clock.pass(20_000);
  await hears(chat, '… running a command');
  turn.events()?.onOwnToolRun?.({ kind: 'ended', id: '1', error: null });
  const found = turn.events()?.onTool({ folder: 'family', name: 'search_history', input: {} });
  clock.pass(60_000);
  await found;
  turn.end(answers('Done.'));
  await isIdle(assistant);
  expect(textsOf(chat)).toEqual(['… running a command', 'Done.']);
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
