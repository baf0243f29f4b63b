import { expect, test, vi } from 'vitest';
import { answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import {
  commands,
  isIdle,
  remind,
  scheduleInFamily,
  soon,
  startWithFamily,
  toolCaller,
} from '../../../testing/turn/tasks.ts';

test('somebody who asks is never met with silence', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const assistant = await startWithFamily(project, tools.agent);
  expect(await tools.call(assistant, 'main', ['stay_silent', {}])).toEqual([
    {
      ok: false,
      value: 'This turn answers a message, and its sender waits for the answer.',
      fault: 'not-allowed',
    },
  ]);
  expect(textsOf(assistant.terminal)).toEqual(['ok']);
  await assistant.stop();
});

test('an agent sees and changes the tasks of its own chat only, unless it is the one of main', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const assistant = await startWithFamily(project, tools.agent);
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
    fault: 'not-found',
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
  const none = {
    ok: false,
    value: 'There is no task 1 of this chat. See list_tasks.',
    fault: 'not-found',
  };
  const refusal = { ok: false, fault: 'not-allowed' };
  expect(answered).toEqual([
    { ...refusal, value: 'This chat may schedule tasks for itself only.' },
    { ...refusal, value: 'This chat may see its own tasks only.' },
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
  // What the other chat has written is read first, so the owner is asked about what acts there.
  const called = tools.call(assistant, 'main', ['list_tasks', {}], ['cancel_task', { task: 2 }]);
  await vi.waitFor(() => expect(textsOf(assistant.terminal).at(-1)).toContain('cancel_task'));
  await assistant.terminal.say('yes');
  const [all, foreign] = await called;
  expect(all?.value).toMatchObject([{ task: 1 }, { task: 2 }]);
  expect(foreign?.value).toBe('Task 2: cancelled, cron 0 20 * * 0 (Europe/Berlin).');
  expect(assistant.store.tasks.byId(2)).toMatchObject({ state: 'cancelled', createdBy: 'main' });
  await assistant.stop();
});

test('an agent pauses, resumes and changes a task, and sees how it went', async () => {
  using project = new TestProject();
  const tools = toolCaller();
  const assistant = await startWithFamily(project, tools.agent);
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
    expect.stringContaining('"never" is not an interval'),
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
  const assistant = await startWithFamily(project, async () => answers('Good morning,\nall!'));
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
  const once = { ...remind, kind: 'at', time_zone: 'Europe/Berlin', schedule: '2026-12-24T18:00' };
  await scheduleInFamily(assistant, once);
  expect(await commands(assistant, '/tasks')).toContain(
    '\nonce at Thu 24 Dec 2026, 18:00 (Europe/Berlin) · never run',
  );
  await assistant.stop();
});
