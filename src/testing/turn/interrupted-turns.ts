import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { EarlierCall, TurnOutcome, TurnRequest } from '../../sandbox/sandbox.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../assistant.ts';
import { killAt } from '../kill.ts';
import { type Action, makeAll, type Scene } from './interrupted-actions.ts';

/** The actions, and the module that exports their `scene`. */
type Table = { readonly actions: readonly Action[]; readonly scene: Scene; readonly path: string };

/** The module of the core's scene, and of `makeAll`. */
const ACTIONS_PATH = join(import.meta.dirname, 'interrupted-actions.ts');

/** Returns what the run after an interrupted one has to be shown. */
function earlierCalls(actions: readonly Action[]): readonly EarlierCall[] {
  return [
    ...actions.map(({ name, input, result }) => ({
      ...{ name, input, ok: result !== null },
      result: result === null ? MAYBE : expect.stringContaining(result),
    })),
    { name: 'remember', input: { text: 'tea' }, ok: true, result: 'Noted.' },
    { name: 'shell', input: { command: 'pay' }, ok: false, result: MAYBE },
  ];
}

const MAYBE = expect.stringContaining('may have been done');

type Interruption = {
  readonly name: string;
  /** Lets a turn make the calls and cuts it off. Returns the assistant whose agent runs the turn again. */
  readonly cut: (table: Table, project: TestProject, again: AgentScript) => Promise<TestAssistant>;
};

function start(
  { scene: { partsFor } }: Table,
  project: TestProject,
  agent: AgentScript,
): Promise<TestAssistant> {
  return project.start(partsFor?.(project.dir, agent) ?? { agent });
}

/** In one process: the first run is cut, and the next one is another agent's. */
function inProcess(code: 'MODEL_FAILED' | 'AGENT_DIED', said: string): Interruption['cut'] {
  return async (table, project, agent) => {
    let runs = 0;
    const assistant = await start(table, project, async (request, events) => {
      runs += 1;
      if (runs > 1) return await agent(request, events);
      const cut = await makeAll(table.actions, events, () => begun(table, project));
      cut.abort();
      return failed(code);
    });
    await table.scene.ready?.(assistant);
    await assistant.terminal.say('go');
    await vi.waitFor(() => expect(assistant.store.turns.counts().failed).toBe(1));
    await assistant.terminal.say(said);
    return assistant;
  };
}

function failed(code: 'MODEL_FAILED' | 'AGENT_DIED'): TurnOutcome {
  return { kind: 'failed', code, message: 'It broke.' };
}

async function begun({ scene }: Table, { dir }: TestProject): Promise<void> {
  await scene.begun?.(dir);
}

const INTERRUPTIONS: readonly Interruption[] = [
  {
    name: 'SIGKILL of the assistant',
    async cut(table, project, agent) {
      const calls = table.actions.map(({ name, input, result }) => ({ name, input, result }));
      await killAt(
        project,
        `const { makeAll } = await import(${JSON.stringify(ACTIONS_PATH)});
         const { scene } = await import(${JSON.stringify(table.path)});
         const agent = async (request, events) => {
           await makeAll(${JSON.stringify(calls)}, events, async () => await scene.begun?.(dir));
           now();
           return await never();
         };
         const assistant = await startAssistant(dir, scene.partsFor?.(dir, agent) ?? { agent });
         await scene.ready?.(assistant);
         await assistant.terminal.say('go');`,
      );
      return await start(table, project, agent);
    },
  },
  {
    name: 'a stop or a restart in the middle of a tool',
    async cut(table, project, agent) {
      const made = Promise.withResolvers<void>();
      const first = await start(table, project, async (_request, events) => {
        await makeAll(table.actions, events, () => begun(table, project));
        made.resolve();
        return await new Promise<never>(() => {});
      });
      await table.scene.ready?.(first);
      await first.terminal.say('go');
      await made.promise;
      await first.stop(10);
      return await start(table, project, agent);
    },
  },
  { name: 'the death of the container, then /retry', cut: inProcess('AGENT_DIED', '/retry') },
  { name: 'a failure of the model, then /retry', cut: inProcess('MODEL_FAILED', '/retry') },
  {
    name: 'a failure of the model, then another message',
    cut: inProcess('MODEL_FAILED', 'well?'),
  },
];

/**
 * Tests that actions take effect once, whatever interrupts their turn, and that the next run sees what was done.
 *
 * @param path of the module that exports the `scene`; the core's by default
 */
export async function testInterruptions(
  actions: readonly Action[],
  path = ACTIONS_PATH,
): Promise<void> {
  const { scene }: { readonly scene: Scene } = await import(path);
  const table = { actions, scene, path };
  test.for(INTERRUPTIONS)(
    'after $name the next run sees what was done, and nothing is done twice',
    async ({ cut }) => {
      using project = new TestProject();
      await using _far = (await scene.prepare?.(project)) ?? null;
      const seen: (readonly EarlierCall[])[] = [];
      const results: unknown[] = [];
      const isOffered = ({ tools }: TurnRequest) =>
        actions.every(({ name }) => tools.some((tool) => tool.name === name));
      // An agent that does not look at what was done: it makes every call again.
      const assistant = await cut(table, project, async (request, events) => {
        if (!isOffered(request)) return failed('AGENT_DIED');
        seen.push(request.earlier ?? []);
        for (const { name, input } of actions) {
          results.push(await events.onTool({ folder: 'main', name, input }));
        }
        return answers('done');
      });
      await vi.waitFor(() =>
        expect(assistant.store.turns.counts()).toMatchObject({ queued: 0, running: 0 }),
      );
      if (seen.length === 0) {
        // What offers its tools was not connected yet.
        await scene.ready?.(assistant);
        await assistant.terminal.say('/retry');
      }
      await vi.waitFor(() => expect(textsOf(assistant.terminal)).toContain('done'));
      expect(seen).toEqual([earlierCalls(actions)]);
      expect(results).toEqual(
        actions.map(({ result }) => ({
          ok: true,
          value:
            result === null
              ? expect.not.stringContaining('was not made again')
              : expect.stringContaining(`was not made again. Its result was: ${result}`),
        })),
      );
      const done = () => actions.map(({ timesDone }) => timesDone(project));
      await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(0));
      await vi.waitFor(() => expect(done()).toEqual(actions.map(() => 1)));
      // Answered: the next turn is a new one.
      await assistant.terminal.say('once more');
      await vi.waitFor(() => expect(seen).toHaveLength(2));
      expect(seen[1]).toEqual([]);
      await vi.waitFor(() =>
        expect(done()).toEqual(actions.map(({ timesInAll = 2 }) => timesInAll)),
      );
      await assistant.stop();
    },
  );
}
