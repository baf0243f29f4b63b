import { expect, test, vi } from 'vitest';
import { TestProject, textsOf } from '../../testing/assistant.ts';
import { killAt } from '../../testing/kill.ts';

const DIES_WORKING = `
  const assistant = await startAssistant(dir, { agent: () => (now(), never()) });
  await assistant.terminal.say('ping', { id: 'ping' });`;

test('a question that was being worked on is answered by the next process, once', async () => {
  using project = new TestProject();
  await killAt(project, DIES_WORKING);
  const assistant = await project.start();
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual(['pong']));
  // The channel did not hear that it was stored, and hands it over again.
  await assistant.terminal.say('ping', { id: 'ping' });
  await vi.waitFor(() => expect(assistant.terminal.acknowledged.length).toBeGreaterThan(1));
  expect(textsOf(assistant.terminal)).toEqual(['pong']);
  await assistant.stop();
});

test('the steps of a turn that was killed are kept with their cost, and the totals count them', async () => {
  using project = new TestProject();
  await killAt(
    project,
    `const spent = { inputTokens: 1000, cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 10 };
     const agent = async ({ folder, models: [model] }, events) => {
       const admission = await events.onModelCall({ model, atMost: spent }, new AbortController().signal);
       admission.charge(spent);
       await events.onTool({ folder, name: 'list_tasks', input: {} });
       events.onOwnToolRun({ kind: 'began', id: 'a', name: 'shell' });
       now();
       return await never();
     };
     const assistant = await startAssistant(dir, { agent });
     await assistant.terminal.say('ping');`,
  );
  const assistant = await project.start();
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual(['pong']));
  const [again, killed] = assistant.store.turnRuns.newest(5);
  expect(killed).toMatchObject({
    turnId: again?.turnId,
    state: 'cut_off',
    error: 'ASSISTANT_ENDED',
    model: 'anthropic/claude-sonnet-5-5',
    modelCalls: 1,
    toolCalls: 2,
    inputTokens: 1_000,
    microUsd: 2_100,
  });
  const steps = assistant.store.turnRuns.stepsOf(killed?.seq ?? 0);
  expect(steps.map(({ kind, name, error }) => [kind, name, error])).toEqual([
    ['model', 'anthropic/claude-sonnet-5-5', null],
    ['host_tool', 'list_tasks', null],
    ['own_tool', 'shell', 'not ended'],
  ]);
  expect(again).toMatchObject({ state: 'answered', modelCalls: 0 });
  const day = new Date().toISOString().slice(0, 10);
  expect(assistant.store.usage.total(day)).toMatchObject({ microUsd: 2_100 });
  await assistant.stop();
  const third = await project.start();
  expect(third.store.turnRuns.newest(5)).toHaveLength(2);
  await third.stop();
});

test('a question that brings the process down three times is given up, and that is said', async () => {
  using project = new TestProject();
  for (let time = 0; time < 3; time++) await killAt(project, DIES_WORKING);
  const assistant = await project.start();
  await vi.waitFor(() => expect(textsOf(assistant.terminal)[0]).toContain('it has given up'));
  await assistant.terminal.say('something else');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toHaveLength(2));
  expect(textsOf(assistant.terminal)[1]).toBe('pong');
  await assistant.stop();
});

test('an answer that was being sent is sent again as the same message', async () => {
  using project = new TestProject();
  const id = await killAt(
    project,
    `const assistant = await startAssistant(dir, { agent: async () => answers('first') });
     assistant.terminal.send = ({ id }) => (now(id), never());
     await assistant.terminal.say('ping');`,
  );
  const second = await project.start();
  await vi.waitFor(() =>
    // The first attempt may have got through, and a channel that can look does.
    expect(second.terminal.sent).toEqual([
      {
        id,
        jid: 'terminal:main',
        text: 'first',
        mayBeThere: { since: expect.any(Number) },
      },
    ]),
  );
  expect(second.store.outbox.hasUnsent('terminal:main')).toBe(false);
  await second.stop();
  const third = await project.start();
  await third.terminal.say('ping');
  await vi.waitFor(() => expect(textsOf(third.terminal)).toEqual(['pong']));
  await third.stop();
});

test('a command that was cut off says so', async () => {
  using project = new TestProject();
  await killAt(
    project,
    `const assistant = await startAssistant(dir, { over: { claw: () => (now(), never()) } });
     await assistant.terminal.say('/skills');`,
  );
  const assistant = await project.start();
  const told = '`/skills` was interrupted by a restart. Say it again.';
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toEqual([told]));
  await assistant.stop();
});
