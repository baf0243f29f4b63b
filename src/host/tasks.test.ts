import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { TurnOutcome, TurnRequest } from '../sandbox/sandbox.ts';
import { TestClock } from './scheduler/test-clock.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
  textsOf,
} from './test-assistant.ts';

const FAMILY = 'chat:family';
const START = '2026-11-21T12:00:00Z';

/** An assistant on the test's clock, with a group beside the main chat. */
async function start(
  project: TestProject,
  agent: AgentScript = async () => answers('pong'),
  clock = new TestClock(START),
) {
  const over = { now: clock.now, setTimer: clock.setTimer, timeZone: 'Europe/Berlin' };
  const wrapped: AgentScript = async (request, events) => {
    const [, input] = /^schedule (.*)$/.exec(request.prompt) ?? [];
    if (input === undefined) return await agent(request, events);
    const call = { folder: 'main', name: 'schedule_task', input: JSON.parse(input) };
    expect(await events.onTool(call)).toMatchObject({ ok: true });
    return answers('scheduled');
  };
  const assistant = await project.start({ agent: wrapped, over });
  const { store } = assistant;
  store.chats.see({ jid: FAMILY, channel: 'chat', name: 'Family', isDirect: false }, 1);
  const group = { jid: FAMILY, folder: 'family', name: 'Family', triggerWord: null };
  store.groups.register({ ...group, needsTrigger: true, isMain: false }, 1);
  // What was said last is acknowledged first, as by a channel that is still connected.
  const stop = async () => {
    await setImmediate();
    await assistant.stop();
  };
  return { ...assistant, clock, stop };
}

/** Lets the agent of a folder call tools in a turn of its own, and returns what they gave. */
function toolCaller() {
  const results: unknown[] = [];
  let calls: readonly [string, object][] = [];
  const agent: AgentScript = async ({ folder }, { onTool }) => {
    for (const [name, input] of calls) results.push(await onTool({ folder, name, input }));
    calls = [];
    return answers('ok');
  };
  return {
    agent,
    async call(assistant: TestAssistant, where: 'main' | 'family', ...next: [string, object][]) {
      calls = next;
      results.length = 0;
      if (where === 'main') await assistant.terminal.say('do it');
      else await assistant.chat.say('@Andy do it', { jid: FAMILY, isDirect: false });
      await vi.waitFor(() => expect(results).toHaveLength(next.length));
      await isIdle(assistant);
      return results.map((result) => result as { ok: boolean; value: unknown });
    },
  };
}

/** Has the main chat's agent schedule something in the other group. */
async function scheduleInFamily(assistant: TestAssistant, wish: object): Promise<void> {
  await assistant.terminal.say(`schedule ${JSON.stringify({ ...wish, group: 'family' })}`);
  await isIdle(assistant);
}

function isIdle({ store }: TestAssistant): Promise<void> {
  return vi.waitFor(() => {
    expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0, unsent: 0 });
  });
}

async function commands(assistant: TestAssistant, text: string): Promise<string> {
  const before = assistant.terminal.sent.length;
  await assistant.terminal.say(text);
  await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(before));
  await isIdle(assistant);
  return textsOf(assistant.terminal).slice(before).join('\n');
}

const remind = { prompt: 'Remind us of the bins', kind: 'cron', schedule: '0 20 * * 0' };
const soon = { prompt: 'Say hello', kind: 'at', schedule: 'in 10 minutes' };

test('what an agent schedules in a group is answered there when it is due', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const requests: TurnRequest[] = [];
  const assistant = await start(project, (request, events) => {
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

test('what was said before a task is context of the task, and not of the next question again', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const assistant = await start(project, async ({ prompt }) => {
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
  const assistant = await start(project, async (request) => {
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
  const assistant = await start(
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

test.for(['tool', 'empty'] as const)('a task may stay silent (%s)', async (way) => {
  using project = new TestProject();
  const typing: boolean[] = [];
  const assistant = await start(project, async ({ folder }, { onTool }) => {
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

test('somebody who asks is never met with silence', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const assistant = await start(project, tools.agent);
  expect(await tools.call(assistant, 'main', ['stay_silent', {}])).toEqual([
    { ok: false, value: 'Somebody has asked and waits for an answer.' },
  ]);
  expect(textsOf(assistant.terminal)).toEqual(['ok']);
  await assistant.stop();
});

test('a task that fails says so once, and only the log has it until it has worked again', async () => {
  using project = new TestProject();
  let isDown = true;
  const assistant = await start(project, async () =>
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
  // A task is no question that could be asked again.
  expect(await commands(assistant, '/retry')).toBe('Nothing has failed that could be tried again.');
  expect(assistant.store.turns.counts().failed).toBe(0);
  await assistant.stop();
});

test('an agent sees and changes the tasks of its own chat only, unless it is the one of main', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const assistant = await start(project, tools.agent);
  const [made, refused] = await tools.call(
    assistant,
    'main',
    ['schedule_task', remind],
    ['schedule_task', { ...remind, group: 'nobody' }],
  );
  expect(made?.value).toContain('Task 1');
  expect(refused).toEqual({
    ok: false,
    value: 'No registered chat is called nobody. There are: main, family.',
  });
  const others: [string, object][] = [
    ['schedule_task', { ...remind, group: 'main' }],
    ['list_tasks', { group: 'main' }],
    ['pause_task', { task: 1 }],
    ['resume_task', { task: 1 }],
    ['cancel_task', { task: 1 }],
    ['update_task', { task: 1, prompt: 'something else' }],
  ];
  const answered = await tools.call(assistant, 'family', ...others, ['list_tasks', {}]);
  const none = { ok: false, value: 'There is no task 1 of this chat. See list_tasks.' };
  expect(answered).toEqual([
    { ok: false, value: 'This chat may schedule tasks for itself only.' },
    { ok: false, value: 'This chat may see its own tasks only.' },
    none,
    none,
    none,
    none,
    { ok: true, value: [] },
  ]);
  const [forFamily] = await tools.call(assistant, 'main', [
    'schedule_task',
    { ...remind, group: 'family' },
  ]);
  expect(forFamily?.value).toContain('Task 2');
  const [own] = await tools.call(assistant, 'family', ['list_tasks', {}]);
  expect(own?.value).toMatchObject([{ task: 2, group: 'family' }]);
  const [all, foreign] = await tools.call(
    assistant,
    'main',
    ['list_tasks', {}],
    ['cancel_task', { task: 2 }],
  );
  expect(all?.value).toMatchObject([{ task: 1 }, { task: 2 }]);
  expect(foreign?.value).toBe('Task 2: cancelled, cron 0 20 * * 0 (Europe/Berlin).');
  expect(assistant.store.tasks.byId(2)).toMatchObject({ state: 'cancelled', createdBy: 'main' });
  await assistant.stop();
});

test('an agent pauses, resumes and changes a task, and sees how it went', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const assistant = await start(project, tools.agent);
  await tools.call(assistant, 'family', ['schedule_task', soon]);
  assistant.clock.pass(600_000);
  await isIdle(assistant);
  const results = await tools.call(
    assistant,
    'family',
    ['update_task', { task: 1, kind: 'every', schedule: '2h', if_missed: 'skip' }],
    ['pause_task', { task: 1 }],
    ['resume_task', { task: 1 }],
    ['resume_task', { task: 1 }],
    ['update_task', { task: 1, schedule: 'never' }],
    ['update_task', { task: 1, time_zone: 'Berlin' }],
    ['list_tasks', {}],
  );
  expect(results.map(({ value }) => value)).toEqual([
    'Task 1: active, every 2 hours, next Sat 21 Nov 2026, 15:10 (Europe/Berlin).',
    'Task 1: paused, every 2 hours.',
    'Task 1: active, every 2 hours, next Sat 21 Nov 2026, 15:10 (Europe/Berlin).',
    'Task 1 is active.',
    expect.stringContaining('"never" is no interval'),
    'There is no time zone "Berlin". Nearest: Europe/Berlin.',
    [
      {
        task: 1,
        group: 'family',
        is: 'Task 1: active, every 2 hours, next Sat 21 Nov 2026, 15:10 (Europe/Berlin).',
        prompt: 'Say hello',
        context: 'group',
        ifMissed: 'skip',
        runs: [{ due: 'Sat 21 Nov 2026, 13:10', outcome: 'answered', summary: 'ok' }],
      },
    ],
  ]);
  await assistant.stop();
});

test('the owner lists, pauses, resumes, runs and cancels tasks, and reads their log', async () => {
  using project = new TestProject();
  const assistant = await start(project, async () => answers('Good morning,\nall!'));
  expect(await commands(assistant, '/tasks')).toContain('Nothing is scheduled.');
  await scheduleInFamily(assistant, { ...remind, time_zone: 'America/New_York' });
  expect(await commands(assistant, '/tasks')).toBe(
    '**1.** Remind us of the bins (Family)\ncron 0 20 * * 0 (America/New_York) · next Mon 23 Nov 2026, 02:00 · never run',
  );
  expect(await commands(assistant, '/tasks log 1')).toContain('It has not run yet.');
  expect(await commands(assistant, '/tasks run 1 now')).toBe('Task 1 runs now.');
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['Good morning,\nall!']));
  expect(await commands(assistant, '/tasks pause 1')).toContain(
    '· paused · last Sat 21 Nov 2026, 13:00: answered',
  );
  assistant.clock.pass(7 * 86_400_000);
  expect(assistant.chat.sent).toHaveLength(1);
  expect(await commands(assistant, '/tasks resume #1')).toContain('next Mon 30 Nov 2026, 02:00');
  expect(await commands(assistant, '/tasks log 1')).toBe(
    'Task 1, active: Remind us of the bins\n\n- Sat 21 Nov 2026, 13:00, answered: Good morning, all!',
  );
  expect(await commands(assistant, '/tasks cancel 1')).toContain('· cancelled ·');
  expect(await commands(assistant, '/tasks run 1')).toBe(
    'Task 1 was cancelled. Schedule a new one.',
  );
  expect(await commands(assistant, '/tasks pause 7')).toContain('There is no task 7.');
  expect(await commands(assistant, '/tasks delete 1')).toContain('Say `/tasks` for the list');
  expect(await commands(assistant, '/tasks')).toContain('Nothing is scheduled.');
  await assistant.stop();
});

test('a task that is cancelled while it waits for its turn does not run', async () => {
  using project = new TestProject();
  const turns: (() => void)[] = [];
  const assistant = await start(
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
  expect(textsOf(assistant.chat)).toEqual(['ok']);
  expect(assistant.store.taskRuns.last(1, 1)).toMatchObject([{ outcome: 'skipped' }]);
  await assistant.stop();
});

test('what was missed while the assistant was down is done once, and said to be late', async () => {
  using project = new TestProject();
  const first = await start(project);
  await scheduleInFamily(first, { ...remind, schedule: '0 14 * * *' });
  await first.stop();
  const prompts: string[] = [];
  const clock = new TestClock('2026-11-24T15:30:00Z');
  const second = await start(
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
