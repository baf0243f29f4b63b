import { expect, test, vi } from 'vitest';
import type { TurnOutcome, TurnRequest } from '../../../sandbox/sandbox.ts';
import { answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { TestClock } from '../../../testing/clock.ts';
import {
  commands,
  FAMILY,
  isIdle,
  remind,
  scheduleInFamily,
  soon,
  startWithFamily,
  toolCaller,
} from '../../../testing/turn/tasks.ts';

test('a task that an agent schedules in a group is answered there when it is due', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const requests: TurnRequest[] = [];
  const assistant = await startWithFamily(project, (request, events) => {
    requests.push(request);
    return tools.agent(request, events);
  });
  const [made] = await tools.call(assistant, 'family', ['schedule_task', remind]);
  expect(made).toEqual({
    ok: true,
    value:
      'Task 1: active, cron 0 20 * * 0 (Europe/Berlin), next Sun 22 Nov 2026, 20:00 (Europe/Berlin).',
  });
  await assistant.chat.say('the bins stink', { jid: FAMILY, isDirect: false });
  assistant.clock.passTo('2026-11-22T19:00:00Z');
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['ok', 'ok']));
  expect(requests[1]).toMatchObject({ folder: 'family', isMain: false, session: 's1' });
  expect(requests[1]?.prompt).toBe(
    [
      '[Scheduled task 1, cron 0 20 * * 0 (Europe/Berlin), due Sun 22 Nov 2026, 20:00. Nobody is waiting: what you answer is sent to the chat as a message of its own. When there is nothing worth a message, call stay_silent.]',
      'Said in the chat since your last turn:\n[21 Nov 2026, 08:02] Ada: the bins stink',
      'The task:\nRemind us of the bins',
    ].join('\n\n'),
  );
  await assistant.stop();
});

test('messages before a task are context of the task, and not again of the next question', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const assistant = await startWithFamily(project, async ({ prompt }) => {
    prompts.push(prompt);
    return answers('ok');
  });
  const task = { prompt: 'Sum up', kind: 'every', schedule: '1h' };
  await scheduleInFamily(assistant, task);
  await assistant.chat.say('one', { jid: FAMILY, isDirect: false });
  assistant.clock.pass(3_600_000);
  await isIdle(assistant);
  await assistant.chat.say('two', { jid: FAMILY, isDirect: false });
  await assistant.chat.say('@Andy three', { jid: FAMILY, isDirect: false });
  await vi.waitFor(() => expect(prompts).toHaveLength(2));
  expect(prompts[0]).toContain('Ada: one');
  expect(prompts[1]).toMatch(/^\[[^\]]*\] Ada: two\n\[[^\]]*\] Ada: @Andy three$/);
  await assistant.stop();
});

test('an isolated task knows nothing of the chat, and leaves nothing in its conversation', async () => {
  using project = new TestProject();
  const requests: TurnRequest[] = [];
  const assistant = await startWithFamily(project, async (request) => {
    requests.push(request);
    return { ...answers('ok'), session: `s${requests.length}` } as TurnOutcome;
  });
  await assistant.chat.say('@Andy hi', { jid: FAMILY, isDirect: false });
  await isIdle(assistant);
  await scheduleInFamily(assistant, { ...soon, context: 'isolated' });
  await assistant.chat.say('between us', { jid: FAMILY, isDirect: false });
  assistant.clock.pass(600_000);
  await isIdle(assistant);
  await assistant.chat.say('@Andy still there?', { jid: FAMILY, isDirect: false });
  await vi.waitFor(() => expect(requests).toHaveLength(3));
  expect(requests[1]).toMatchObject({ session: null });
  expect(requests[1]?.prompt).not.toContain('between us');
  expect(requests[2]).toMatchObject({ session: 's1' });
  expect(requests[2]?.prompt).toContain('between us');
  await assistant.stop();
});

test('a task waits for the question that is being answered, and takes nothing from it', async () => {
  using project = new TestProject();
  const turns: { prompt: string; finish: () => void }[] = [];
  const assistant = await startWithFamily(
    project,
    ({ prompt }) =>
      new Promise((resolve) => turns.push({ prompt, finish: () => resolve(answers('ok')) })),
  );
  await scheduleInFamily(assistant, soon);
  await assistant.chat.say('@Andy a question', { jid: FAMILY, isDirect: false });
  await vi.waitFor(() => expect(turns).toHaveLength(1));
  assistant.clock.pass(600_000);
  await assistant.chat.say('@Andy another', { jid: FAMILY, isDirect: false });
  expect(turns).toHaveLength(1);
  turns[0]?.finish();
  await vi.waitFor(() => expect(turns).toHaveLength(2));
  turns[1]?.finish();
  await vi.waitFor(() => expect(turns).toHaveLength(3));
  turns[2]?.finish();
  expect(turns[1]?.prompt).toContain('Say hello');
  expect(turns[1]?.prompt).not.toContain('question');
  expect(turns[2]?.prompt).toContain('another');
  await isIdle(assistant);
  await assistant.stop();
});

test('a question that failed is asked again, whatever a task does in between', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const assistant = await startWithFamily(project, async ({ prompt }) => {
    prompts.push(prompt);
    const isFirst = prompts.length === 1;
    return isFirst
      ? { kind: 'failed', code: 'MODEL_FAILED', message: 'The model is overloaded.' }
      : answers('ok');
  });
  const inFamily = { jid: FAMILY, isDirect: false };
  await assistant.chat.say('@Andy where are we?', inFamily);
  await isIdle(assistant);
  await scheduleInFamily(assistant, soon);
  assistant.clock.pass(600_000);
  await isIdle(assistant);
  expect(await commands(assistant, '/retry family')).toBe('Trying again in Family.');
  await vi.waitFor(() => expect(prompts).toHaveLength(3));
  expect(prompts[1]).toContain('Say hello');
  expect(prompts[1]).not.toContain('where are we?');
  expect(prompts[2]).toContain('where are we?');
  await assistant.stop();
});

test.for(['tool', 'empty'] as const)('a task may stay silent (%s)', async (way) => {
  using project = new TestProject();
  const typing: boolean[] = [];
  const assistant = await startWithFamily(project, async ({ folder }, { onTool }) => {
    if (way === 'empty') return answers(' \n');
    expect(await onTool({ folder, name: 'stay_silent', input: {} })).toMatchObject({ ok: true });
    return answers('There is nothing to say.');
  });
  Object.assign(assistant.chat, {
    setTyping: async (_jid: string, isTyping: boolean) => void typing.push(isTyping),
  });
  await scheduleInFamily(assistant, soon);
  assistant.clock.pass(600_000);
  await isIdle(assistant);
  expect(assistant.chat.sent).toEqual([]);
  expect(typing).toEqual([]);
  expect(assistant.store.taskRuns.last(1, 1)).toMatchObject([{ outcome: 'silent' }]);
  expect(assistant.store.sessions.get('family')).toBe('s1');
  await assistant.stop();
});

test('a task that fails says so once, and only the log has it until it has worked again', async () => {
  using project = new TestProject();
  let isDown = true;
  const assistant = await startWithFamily(project, async () =>
    isDown
      ? { kind: 'failed', code: 'MODEL_FAILED', message: 'The model is overloaded.' }
      : answers('here'),
  );
  await scheduleInFamily(assistant, { prompt: 'Look\nat it', kind: 'every', schedule: '1h' });
  const hour = async () => {
    assistant.clock.pass(3_600_000);
    await isIdle(assistant);
  };
  await hour();
  await hour();
  expect(textsOf(assistant.chat)).toEqual([
    'Task 1 (“Look at it”) failed: The model is overloaded.\n\nIt runs again Sat 21 Nov 2026, 15:00; while it goes on failing, that is only noted.',
  ]);
  isDown = false;
  await hour();
  isDown = true;
  await hour();
  expect(textsOf(assistant.chat).slice(1)).toEqual(['here', expect.stringContaining('failed')]);
  const outcomes = assistant.store.taskRuns.last(1, 9).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['failed', 'answered', 'failed', 'failed']);
  // A task is not a question that could be asked again.
  expect(await commands(assistant, '/retry')).toBe('Nothing has failed that could be tried again.');
  expect(assistant.store.turns.counts().failed).toBe(0);
  await assistant.stop();
});

test('a task that is cancelled while it waits for its turn does not run', async () => {
  using project = new TestProject();
  const turns: (() => void)[] = [];
  const assistant = await startWithFamily(
    project,
    () => new Promise((resolve) => turns.push(() => resolve(answers('ok')))),
  );
  await scheduleInFamily(assistant, soon);
  await assistant.chat.say('@Andy hi', { jid: FAMILY, isDirect: false });
  await vi.waitFor(() => expect(turns).toHaveLength(1));
  assistant.clock.pass(600_000);
  await assistant.terminal.say('/tasks cancel 1');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).at(-1)).toContain('cancelled'));
  turns[0]?.();
  await isIdle(assistant);
  expect(turns).toHaveLength(1);
  expect(textsOf(assistant.chat)).toEqual(['… thinking', 'ok']);
  expect(assistant.store.taskRuns.last(1, 1)).toMatchObject([{ outcome: 'skipped' }]);
  await assistant.stop();
});

test('a task that was missed while the assistant was down runs once, and says that it is late', async () => {
  using project = new TestProject();
  const first = await startWithFamily(project);
  await scheduleInFamily(first, { ...remind, schedule: '0 14 * * *' });
  await first.stop();
  const prompts: string[] = [];
  const clock = new TestClock('2026-11-24T15:30:00Z');
  const second = await startWithFamily(
    project,
    async ({ prompt }) => {
      prompts.push(prompt);
      return answers('late');
    },
    clock,
  );
  await vi.waitFor(() => expect(textsOf(second.chat)).toEqual(['late']));
  expect(prompts[0]).toContain('due Sat 21 Nov 2026, 14:00, 3 days late.');
  clock.passTo('2026-11-25T13:00:00Z');
  await vi.waitFor(() => expect(textsOf(second.chat)).toEqual(['late', 'late']));
  await second.stop();
});

test('the owner adds tasks by hand, in every form of a time, and names them', async () => {
  using project = new TestProject();
  const assistant = await startWithFamily(project, async () => answers('ok'));
  const say = async (text: string): Promise<string> => {
    const before = assistant.terminal.sent.length;
    await assistant.terminal.say(text);
    await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(before));
    return textsOf(assistant.terminal).at(-1) ?? '';
  };
  expect(await say('/tasks add in 20 minutes: look at 18:00 news')).toMatch(
    /^\*\*1\.\*\* look at 18:00 news \(Terminal\)\nonce at /,
  );
  expect(await say('/tasks add at 2026-12-24T18:00: wish everybody well')).toContain('24 Dec 2026');
  expect(await say('/tasks add “Mail” EVERY 2 hours: look at the mail')).toContain('**3. Mail:**');
  expect(await say('/tasks add every 2 minutes')).toContain('its time, a colon, and what to do');
  expect(await say('/tasks add every never: x')).toContain('its time, a colon, and what to do');
  expect(await say('/tasks name 9 Mail')).toContain('There is no task 9.');
  expect(await say(`/tasks name 1 ${'x'.repeat(81)}`)).toBe('A name has at most 80 characters.');
  expect(await say('/tasks name 1 mail')).toContain('**1. mail:**');
  expect(await say('/tasks cancel "Mail"')).toBe('Tasks 1 and 3 have this name: say the number.');
  expect(await say('/tasks name 1 2 teas')).toContain('**1. 2 teas:**');
  expect(await say('/tasks cancel mail')).toContain('cancelled');
  expect(await say('/tasks cancel tea')).toContain('There is no task `tea`.');
  expect(assistant.store.tasks.open().map(({ name }) => name)).toEqual(['2 teas', null]);
  await assistant.stop();
});

test('the runs of a task tell what they have cost', async () => {
  using project = new TestProject();
  const assistant = await startWithFamily(project, async () => answers('ok'));
  const { store, terminal } = assistant;
  await terminal.say('/tasks add every 2 hours: look at the mail');
  await terminal.say('/tasks run 1 now');
  await vi.waitFor(() => expect(textsOf(terminal)).toContain('ok'));
  await isIdle(assistant);
  const [run] = store.turnRuns.newest(1);
  const step = { kind: 'model', name: 'm', startedMs: 0, durationMs: 1, error: null } as const;
  const tokens = { inputTokens: 10, cacheWriteTokens: 1, cacheReadTokens: 2, outputTokens: 3 };
  // As of a second attempt at the same turn, which has asked a model.
  store.turnRuns.add({
    ...run,
    ...tokens,
    steps: [{ ...step, ...tokens, microUsd: 700 }],
  } as never);
  const spent = { tokens: 16, microUsd: 700, unpricedCalls: 0 };
  expect(store.taskRuns.costs(0)).toEqual([{ taskId: 1, runs: 1, ...spent }]);
  expect(store.taskRuns.costs(assistant.clock.now() + 1)).toEqual([]);
  await assistant.stop();
});
