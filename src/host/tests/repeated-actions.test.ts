import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import type { EarlierCall, TurnOutcome } from '../../sandbox/sandbox.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';
import { killAt } from '../../testing/kill.ts';

/** Actions of a turn that must not be done twice, each with what shows how often it was done. */
const ACTIONS = [
  { name: 'send_message', input: { text: 'SIDE EFFECT' } },
  {
    name: 'schedule_task',
    input: { prompt: 'Say bins', kind: 'cron', schedule: '0 20 * * 0' },
  },
] as const;

/** As an agent's script in a process that is killed. */
const MAKES_ALL = `
  for (const { name, input } of ${JSON.stringify(ACTIONS)}) await events.onTool({ folder: 'main', name, input });
  events.onOwnToolRun({ kind: 'began', id: 'a', name: 'remember', input: { text: 'tea' } });
  events.onOwnToolRun({ kind: 'ended', id: 'a', error: null, result: 'Noted.' });
  events.onOwnToolRun({ kind: 'began', id: 'b', name: 'shell', input: { command: 'pay' } });`;

const SEEN: readonly EarlierCall[] = [
  { name: 'send_message', input: ACTIONS[0].input, ok: true, result: 'Queued for Terminal.' },
  {
    name: 'schedule_task',
    input: ACTIONS[1].input,
    ok: true,
    result: expect.stringContaining('Task 1'),
  },
  { name: 'remember', input: { text: 'tea' }, ok: true, result: 'Noted.' },
  {
    name: 'shell',
    input: { command: 'pay' },
    ok: false,
    result: expect.stringContaining('unknown: the assistant ended'),
  },
];

const makesAll: AgentScript = async (_request, events) => {
  for (const { name, input } of ACTIONS) await events.onTool({ folder: 'main', name, input });
  events.onOwnToolRun?.({ kind: 'began', id: 'a', name: 'remember', input: { text: 'tea' } });
  events.onOwnToolRun?.({ kind: 'ended', id: 'a', error: null, result: 'Noted.' });
  events.onOwnToolRun?.({ kind: 'began', id: 'b', name: 'shell', input: { command: 'pay' } });
  return answers('never seen');
};

/** An agent that does not look at what was done: it makes every call again. */
function forgetful(seen: (readonly EarlierCall[])[], results: unknown[]): AgentScript {
  return async ({ earlier = [] }, events) => {
    seen.push(earlier);
    for (const { name, input } of ACTIONS) {
      results.push(await events.onTool({ folder: 'main', name, input }));
    }
    return answers('done');
  };
}

/** Counts what is in the database, which all processes share. */
function timesDone({ dir }: TestProject): Readonly<Record<string, number>> {
  const database = new Database(join(dir, 'data/claw.db'), { readonly: true });
  const count = (sql: string) => Number(database.prepare(sql).pluck().get());
  const done = {
    send_message: count("SELECT count(*) FROM outbox WHERE text = 'SIDE EFFECT'"),
    schedule_task: count('SELECT count(*) FROM tasks'),
  };
  database.close();
  return done;
}

const failing = (code: 'MODEL_FAILED' | 'AGENT_DIED'): AgentScript => {
  const outcome: TurnOutcome = { kind: 'failed', code, message: 'It broke.' };
  return async (request, events) => {
    await makesAll(request, events);
    return outcome;
  };
};

type Interruption = {
  readonly name: string;
  /** Lets a turn make the calls and cuts it off. Returns the assistant whose agent runs the turn again, asked to. */
  readonly cut: (project: TestProject, again: AgentScript) => Promise<TestAssistant>;
};

/** In one process: the first run is cut, and the next one is another agent's. */
function inProcess(first: AgentScript, again: (assistant: TestAssistant) => Promise<void>) {
  return async (project: TestProject, agent: AgentScript): Promise<TestAssistant> => {
    let runs = 0;
    const assistant = await project.start({
      agent: (request, events) => {
        runs += 1;
        return runs === 1 ? first(request, events) : agent(request, events);
      },
    });
    await assistant.terminal.say('go');
    await vi.waitFor(() => expect(assistant.store.turns.counts().failed).toBe(1));
    await again(assistant);
    return assistant;
  };
}

const INTERRUPTIONS: readonly Interruption[] = [
  {
    name: 'SIGKILL of the assistant',
    async cut(project, agent) {
      await killAt(
        project,
        `const agent = async (request, events) => { ${MAKES_ALL} now(); return await never(); };
         const assistant = await startAssistant(dir, { agent });
         await assistant.terminal.say('go');`,
      );
      return await project.start({ agent });
    },
  },
  {
    name: 'a stop or a restart in the middle of a tool',
    async cut(project, agent) {
      const made = Promise.withResolvers<void>();
      const first = await project.start({
        agent: async (request, events) => {
          await makesAll(request, events);
          made.resolve();
          return await new Promise<never>(() => {});
        },
      });
      await first.terminal.say('go');
      await made.promise;
      await first.stop(10);
      return await project.start({ agent });
    },
  },
  {
    name: 'the death of the container, then /retry',
    cut: inProcess(failing('AGENT_DIED'), ({ terminal }) => terminal.say('/retry')),
  },
  {
    name: 'a failure of the model, then /retry',
    cut: inProcess(failing('MODEL_FAILED'), ({ terminal }) => terminal.say('/retry')),
  },
  {
    name: 'a failure of the model, then another message',
    cut: inProcess(failing('MODEL_FAILED'), ({ terminal }) => terminal.say('well?')),
  },
];

test.for(INTERRUPTIONS)(
  'after $name the next run sees what was done, and the host does nothing twice',
  async ({ cut }) => {
    using project = new TestProject();
    const seen: (readonly EarlierCall[])[] = [];
    const results: unknown[] = [];
    const assistant = await cut(project, forgetful(seen, results));
    await vi.waitFor(() => expect(textsOf(assistant.terminal)).toContain('done'));
    expect(seen).toEqual([SEEN]);
    expect(results).toEqual([
      { ok: true, value: expect.stringContaining('was not made again. Its result was: Queued') },
      { ok: true, value: expect.stringContaining('was not made again. Its result was: Task 1') },
    ]);
    expect(timesDone(project)).toEqual({ send_message: 1, schedule_task: 1 });
    // Answered: the next turn is a new one.
    await assistant.terminal.say('once more');
    await vi.waitFor(() => expect(seen).toHaveLength(2));
    expect(seen[1]).toEqual([]);
    await vi.waitFor(() =>
      expect(timesDone(project)).toEqual({ send_message: 2, schedule_task: 2 }),
    );
    await assistant.stop();
  },
);

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
    agent: async (request, events) => {
      prompts.push(request.prompt);
      if (prompts.length === 1) {
        await makesAll(request, events);
        works();
        await stopped;
        return { kind: 'failed', code: 'AGENT_DIED', message: 'It died.' };
      }
      if (prompts.length > 2) return answers('once more');
      return answers(JSON.stringify(await events.onTool({ folder: 'main', ...ACTIONS[0] })));
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
  expect(timesDone(project)).toMatchObject({ send_message: 2 });
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
      `const agent = async (_request, events) => {
         ${time === 0 ? MAKES_ALL : ''}
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
