import { expect, test, vi } from 'vitest';
import { answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { TestClock } from '../../../testing/clock.ts';
import { killAt } from '../../../testing/kill.ts';

const DUE = '2026-11-21T12:10:00Z';

/** A process in which a task becomes due; it dies where `parts` halt it. */
const dying = (parts: string): string => `
  const clock = new TestClock('2026-11-21T12:00:00Z');
  const schedule = async ({ folder }, { onTool }) => {
    const input = { prompt: 'Say hello', kind: 'at', schedule: 'in 10 minutes' };
    await onTool({ folder, name: 'schedule_task', input });
    return answers('scheduled');
  };
  let work = schedule;
  const over = { now: clock.now, setTimer: clock.setTimer };
  const agent = (request, events) => work(request, events);
  const assistant = await startAssistant(dir, { agent, over });
  await assistant.terminal.say('in ten minutes, say hello');
  while (assistant.terminal.sent.length === 0) await new Promise(setImmediate);
  ${parts}
  clock.passTo('${DUE}');`;

const MOMENTS = {
  'in the middle of the claim': 'assistant.store.turns.queueTask = halt;',
  'before the claim is committed': 'assistant.store.taskRuns.fire = halt;',
  'between the claim and its turn': 'assistant.store.turns.claimNext = halt;',
  'while its turn is worked on': 'work = () => (now(), never());',
  'before the answer is stored':
    'work = async () => answers("lost"); assistant.store.finishTurn = halt;',
};

test.for(Object.entries(MOMENTS))(
  'a task is done once by a process that was killed %s',
  async ([, parts]) => {
    using project = new TestProject();
    await killAt(project, dying(parts));
    const clock = new TestClock('2026-11-21T12:10:20Z');
    const prompts: string[] = [];
    const assistant = await project.start({
      over: { now: clock.now, setTimer: clock.setTimer },
      agent: async ({ prompt }) => {
        prompts.push(prompt);
        return answers('hello');
      },
    });
    await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual(['hello']));
    clock.pass(86_400_000);
    await vi.waitFor(() => expect(assistant.store.turns.isOpen('terminal:main')).toBe(false));
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain('The task:\nSay hello');
    expect(textsOf(assistant.terminal)).toEqual(['hello']);
    expect(assistant.store.tasks.byId(1)).toMatchObject({ state: 'done', nextRun: null });
    expect(assistant.store.taskRuns.last(1, 9)).toMatchObject([
      { dueAt: Date.parse(DUE), outcome: 'answered', summary: 'hello' },
    ]);
    await assistant.stop();
  },
);

test('a task that brings the process down three times is given up, and that is said', async () => {
  using project = new TestProject();
  await killAt(project, dying('work = () => (now(), never());'));
  const again = `
    const clock = new TestClock('2026-11-21T12:10:20Z');
    const over = { now: clock.now, setTimer: clock.setTimer };
    await startAssistant(dir, { agent: () => (now(), never()), over });`;
  await killAt(project, again);
  await killAt(project, again);
  const assistant = await project.start();
  await vi.waitFor(() => {
    expect(textsOf(assistant.terminal)[0]).toMatch(/^Task 1 \(“Say hello”\) failed: .*given up/);
  });
  expect(textsOf(assistant.terminal)[0]).toContain('Say `/tasks run 1 now` to try again.');
  expect(assistant.store.taskRuns.last(1, 9)).toMatchObject([{ outcome: 'gave_up' }]);
  await assistant.stop();
});
