import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ToolFault, type ToolFaultKind } from '../../lib/tool-fault.ts';
import { answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { killAt } from '../../testing/kill.ts';
import { type Action, makeAll } from '../../testing/turn/interrupted-actions.ts';
import { testInterruptions } from '../../testing/turn/interrupted-turns.ts';
import { toolContext } from '../../testing/turn/tool-call.ts';
import { defineTool } from '../contracts/tool.ts';
import { openTools } from '../turns/tool-calls/toolbox.ts';

/** The module of `makeAll`, for a process that is killed. */
const MAKES_ALL = join(import.meta.dirname, '../../testing/turn/interrupted-actions.ts');

function count({ dir }: TestProject, sql: string): number {
  const database = new Database(join(dir, 'data/claw.db'), { readonly: true });
  const found = Number(database.prepare(sql).pluck().get());
  database.close();
  return found;
}

const SAID = { name: 'send_message', input: { text: 'SIDE EFFECT' } };

const ACTIONS: readonly Action[] = [
  {
    ...SAID,
    result: 'Queued for Terminal.',
    timesDone: (project) =>
      count(project, "SELECT count(*) FROM outbox WHERE text = 'SIDE EFFECT'"),
  },
  {
    name: 'schedule_task',
    input: { prompt: 'Say bins', kind: 'cron', schedule: '0 20 * * 0' },
    result: 'Task 1',
    timesDone: (project) => count(project, 'SELECT count(*) FROM tasks'),
  },
  {
    name: 'register_group',
    input: { chat: 'Family' },
    result: 'Family is registered',
    timesDone: (project) => count(project, "SELECT count(*) FROM groups WHERE jid = 'chat:f'"),
    // A chat is registered once: the second time is refused.
    timesInAll: 1,
  },
];

await testInterruptions(ACTIONS);

const TOLD_ACTIONS = ACTIONS.slice(0, 2);
const TOLD = [
  '(A turn before this was ended without an answer. It had made these calls:',
  '- send_message {"text":"SIDE EFFECT"}: done',
  '- schedule_task {"prompt":"Say bins","kind":"cron","schedule":"0 20 * * 0"}: done',
  '- remember {"text":"tea"}: done',
  '- shell {"command":"pay"}: may have been done)',
  'and now?',
].join('\n');

test('the turn after one that was stopped is told what that one did, once, and may do it again', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const { promise: working, resolve: works } = Promise.withResolvers<void>();
  const assistant = await project.start({
    agent: async ({ prompt }, events) => {
      prompts.push(prompt);
      if (prompts.length === 1) {
        await makeAll(TOLD_ACTIONS, events);
        works();
        await stopped;
        return { kind: 'failed', code: 'AGENT_DIED', message: 'It died.' };
      }
      if (prompts.length > 2) return answers('once more');
      return answers(JSON.stringify(await events.onTool({ folder: 'main', ...SAID })));
    },
  });
  await assistant.terminal.say('go');
  await working;
  await assistant.terminal.say('/stop');
  stop();
  await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(0));
  await assistant.terminal.say('and now?');
  // The owner asks anew, so the same call is made and not answered with the old result.
  await vi.waitFor(() =>
    expect(textsOf(assistant.terminal)).toContain('{"ok":true,"value":"Queued for Terminal."}'),
  );
  expect(ACTIONS[0]?.timesDone(project)).toBe(2);
  await assistant.terminal.say('thanks');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toContain('once more'));
  expect(prompts).toEqual(['go', TOLD, 'thanks']);
  await assistant.stop();
});

test('the turn after one that was given up is told what that one did, unless /reset comes between', async () => {
  using project = new TestProject();
  for (let time = 0; time < 3; time++) {
    await killAt(
      project,
      `const { makeAll } = await import(${JSON.stringify(MAKES_ALL)});
       const agent = async (_request, events) => {
         if (${time === 0}) await makeAll(${JSON.stringify(TOLD_ACTIONS)}, events);
         now();
         return await never();
       };
       const assistant = await startAssistant(dir, { agent });
       await assistant.terminal.say('go', { id: 'go' });`,
    );
  }
  const prompts: string[] = [];
  const assistant = await project.start({
    agent: async ({ prompt }) => {
      prompts.push(prompt);
      return prompts.length === 1
        ? { kind: 'failed', code: 'MODEL_FAILED', message: 'It is down.', reason: 'down' }
        : answers('done');
    },
  });
  await vi.waitFor(() => expect(textsOf(assistant.terminal).join()).toContain('given up'));
  await assistant.terminal.say('and now?');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).join()).toContain('It is down.'));
  await assistant.terminal.say('/reset');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).join()).toContain('dropped'));
  await assistant.terminal.say('hello');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).at(-1)).toBe('done'));
  expect(prompts).toEqual([TOLD, 'hello']);
  await assistant.stop();
});

test('a chat that the owner takes out after an interruption is not registered again by the next run', async () => {
  using project = new TestProject();
  const results: unknown[] = [];
  const register = { folder: 'main', name: 'register_group', input: { chat: 'Family' } };
  const assistant = await project.start({
    agent: async (_request, events) => {
      results.push(await events.onTool(register));
      return results.length === 1
        ? { kind: 'failed', code: 'MODEL_FAILED', message: 'It is down.', reason: 'down' }
        : answers('done');
    },
  });
  const { terminal, chat, store } = assistant;
  await chat.meet('chat:f', 'Family');
  await terminal.say('go');
  await vi.waitFor(() => expect(textsOf(terminal).join()).toContain('It is down.'));
  await terminal.say('/unregister Family');
  await vi.waitFor(() => expect(store.groups.byJid('chat:f')).toBeNull());
  await terminal.say('/retry');
  await vi.waitFor(() => expect(textsOf(terminal)).toContain('done'));
  expect(results[1]).toMatchObject({ value: expect.stringContaining('was not made again') });
  expect(store.groups.byJid('chat:f')).toBeNull();
  await assistant.stop();
});

test('a call that nobody knows the end of keeps its idempotency key until it is done, and another has another', async () => {
  using project = new TestProject();
  const keys: (string | null)[] = [];
  const faults: (ToolFaultKind | null)[] = ['timeout', 'unknown', null, 'failed', 'unknown', null];
  const pay = defineTool({
    name: 'pay',
    create: () => ({
      description: 'Pays.',
      isMainOnly: false,
      input: z.object({}),
      async run({ idempotencyKey }) {
        keys.push(idempotencyKey);
        const fault = faults.shift() ?? null;
        if (fault !== null) throw new ToolFault(fault, 'It broke.');
        return 'Paid.';
      },
    }),
  });
  const { tools } = openTools([pay], {}, toolContext());
  let runs = 0;
  const assistant = await project.start({
    over: { tools },
    agent: async (_request, events) => {
      runs += 1;
      for (let call = 0; call < 5; call++) {
        await events.onTool({ folder: 'main', name: 'pay', input: {} });
      }
      return runs > 1
        ? answers('done')
        : { kind: 'failed', code: 'MODEL_FAILED', message: 'It is down.', reason: 'down' };
    },
  });
  await assistant.terminal.say('go');
  await vi.waitFor(() => expect(textsOf(assistant.terminal).join()).toContain('It is down.'));
  await assistant.terminal.say('/retry');
  await vi.waitFor(() => expect(textsOf(assistant.terminal)).toContain('done'));
  const [first, failed, open] = [keys[0], keys[3], keys[4]];
  expect(new Set([first, failed, open]).size).toBe(3);
  // The next run makes what failed, and what nobody knows the end of, under the keys that they had.
  expect(keys.slice(0, 7)).toEqual([first, first, first, failed, open, failed, open]);
  await assistant.stop();
});
