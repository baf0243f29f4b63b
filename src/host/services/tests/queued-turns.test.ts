import { expect, test } from 'vitest';
import type { ChooseModels } from '../../../model/routing.ts';
import type { TurnOutcome } from '../../../sandbox/sandbox.ts';
import { answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import {
  isSideWork,
  PLAIN,
  reset,
  seen,
  serviceFile,
  servicesOf,
} from '../../../testing/claw/service-files.ts';
import { testModel } from '../../../testing/model/test-model.ts';
import { isIdle, startWithFamily } from '../../../testing/turn/tasks.ts';

test('a turn that a service queues runs once in its group, and its log is kept', async () => {
  reset();
  using project = new TestProject();
  const prompts: string[] = [];
  const { services } = await servicesOf({ 'plain.ts': PLAIN }, { PLAIN_WORD: 'yes' });
  const agent = async ({ prompt }: { readonly prompt: string }) => {
    prompts.push(prompt);
    return answers('a leak in the cellar');
  };
  const assistant = await startWithFamily(project, agent, undefined, { services });
  const [context] = seen.contexts;
  const turn = context?.queueTurn({ folder: 'family', prompt: 'The sensor said: wet' });
  await isIdle(assistant);
  expect(prompts).toEqual([
    expect.stringMatching(/^\[Scheduled task 1.*\n\n.*The sensor said: wet$/s),
  ]);
  expect(textsOf(assistant.chat)).toEqual(['a leak in the cellar']);
  expect(assistant.store.taskRuns.ofTurn(turn ?? '')).toMatchObject({
    taskId: 1,
    outcome: 'answered',
    summary: 'a leak in the cellar',
  });
  expect(assistant.store.tasks.open()).toEqual([]);
  expect(() => context?.queueTurn({ folder: 'nobody', prompt: 'x' })).toThrow(
    'No chat is registered with the folder nobody.',
  );
  await assistant.stop();
});

test('the newest hundred turns that a service has queued are kept as tasks, and all tasks of others', async () => {
  reset();
  using project = new TestProject();
  const { services } = await servicesOf({ 'plain.ts': PLAIN }, { PLAIN_WORD: 'yes' });
  const assistant = await startWithFamily(project, undefined, undefined, { services });
  const { store } = assistant;
  const at = { kind: 'at', text: 'tomorrow', timeZone: 'UTC', anchor: 1 } as const;
  const task = { folder: 'family', prompt: 'x', schedule: at, context: 'group' } as const;
  const own = { ...task, ifMissed: 'run-once', nextRun: 1, createdBy: 'plain' } as const;
  const done = store.tasks.add(own, 1);
  store.tasks.advance(done, { from: 1, to: null });
  const [context] = seen.contexts;
  const turns = Array.from(
    { length: 103 },
    () => context?.queueTurn({ folder: 'family', prompt: 'look' }) ?? '',
  );
  // None of them is deleted before it has run.
  expect(store.tasks.byId(done + 1)).not.toBeNull();
  await isIdle(assistant);
  turns.push(context?.queueTurn({ folder: 'family', prompt: 'look' }) ?? '');
  await isIdle(assistant);
  const kept = turns.filter((turn) => store.taskRuns.ofTurn(turn) !== null);
  expect(kept).toEqual(turns.slice(-100));
  expect(store.tasks.byId(done + 4)).toBeNull();
  expect(store.tasks.byId(done)?.state).toBe('done');
  await assistant.stop();
});

test('a turn or a message that is asked for again under its id is the same one, also after a restart', async () => {
  reset();
  using project = new TestProject();
  const prompts: string[] = [];
  const { services } = await servicesOf({ 'plain.ts': PLAIN }, { PLAIN_WORD: 'yes' });
  const agent = async ({ prompt }: { readonly prompt: string }) => {
    prompts.push(prompt);
    return answers('done');
  };
  const turn = { id: 'hook-1', folder: 'family', prompt: 'look' };
  const message = { id: 'hook-2', folder: 'family', text: '*wet*' };
  const first = await startWithFamily(project, agent, undefined, { services });
  expect(seen.contexts[0]?.queueTurn(turn)).toBe('hook-1');
  seen.contexts[0]?.queueMessage(message);
  expect(seen.contexts[0]?.queueTurn(turn)).toBe('hook-1');
  await isIdle(first);
  await first.stop();
  expect(textsOf(first.chat).toSorted()).toEqual(['*wet*', 'done']);
  const second = await startWithFamily(project, agent, undefined, { services });
  expect(seen.contexts[1]?.queueTurn(turn)).toBe('hook-1');
  seen.contexts[1]?.queueMessage(message);
  expect(() => seen.contexts[1]?.queueMessage({ ...message, id: 'x', folder: 'nobody' })).toThrow(
    'No chat is registered with the folder nobody.',
  );
  await isIdle(second);
  await second.stop();
  expect(prompts).toHaveLength(1);
  expect(textsOf(second.chat)).toEqual([]);
});

const JUDGE = serviceFile(
  'judge',
  `start: (context) => {
    const seen = globalThis.serviceTest;
    seen.contexts.push(context);
    const onTurnEnd = (turn) => {
      seen.ended.push(turn);
      if (turn.text === 'break') throw new Error('no idea');
      if (turn.outcome === 'failed') return { kind: 'send', text: 'it went wrong' };
      return turn.text === 'all well' ? { kind: 'silent' } : { kind: 'send' };
    };
    return { stop() {}, status: () => null, onTurnEnd };
  }`,
);

test('a service decides what the chat gets of its turn, also of one that an earlier process began', async () => {
  reset();
  using project = new TestProject();
  const { services } = await servicesOf({ 'judge.ts': JUDGE });
  const routed: string[] = [];
  const dies = Promise.withResolvers<void>();
  const stuck = await startWithFamily(
    project,
    async () => {
      dies.resolve();
      return await new Promise(() => {});
    },
    undefined,
    { services },
  );
  const turn = seen.contexts[0]?.queueTurn({ folder: 'family', prompt: 'all well' });
  await dies.promise;
  await stuck.stop();
  const agent = async ({ prompt }: { readonly prompt: string }): Promise<TurnOutcome> => {
    const [, said = ''] = /The task:\n(.*)$/s.exec(prompt) ?? [];
    if (said === 'fail')
      return { kind: 'failed', code: 'MODEL_FAILED', message: 'The model is gone.' };
    return answers(said);
  };
  const chooseModels: ChooseModels = async ({ taskType }) => {
    if (!isSideWork(taskType)) routed.push(taskType);
    return { kind: 'models', models: [testModel()] };
  };
  const assistant = await startWithFamily(project, agent, undefined, { services, chooseModels });
  await isIdle(assistant);
  expect(seen.ended).toEqual([
    { id: turn, folder: 'family', outcome: 'answered', error: null, text: 'all well' },
  ]);
  expect(assistant.store.taskRuns.ofTurn(turn ?? '')).toMatchObject({
    outcome: 'silent',
    summary: 'all well',
  });
  const context = seen.contexts.at(-1);
  for (const prompt of ['all well', 'a leak', 'fail', 'break']) {
    context?.queueTurn({ folder: 'family', prompt, taskType: 'watch' });
    await isIdle(assistant);
  }
  expect(textsOf(assistant.chat)).toEqual(['a leak', 'it went wrong', 'break']);
  expect(seen.ended.map(({ outcome }) => outcome)).toEqual([
    ...['answered', 'answered', 'answered', 'failed', 'answered'],
  ]);
  expect(routed).toEqual(['judge', 'watch', 'watch', 'watch', 'watch']);
  await assistant.stop();
});
