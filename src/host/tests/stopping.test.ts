import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import {
  type AgentScript,
  answers,
  TestProject,
  testSandbox,
  textsOf,
} from '../../testing/assistant.ts';
import type { StartService } from '../contracts/service.ts';
import { realTimer } from '../scheduler/alarm.ts';
import { lazySandbox } from '../turns/agent/lazy-sandbox.ts';

const never = () => new Promise<never>(() => {});
const QUICK = { leaseMs: 60_000, connectTimeoutMs: 1_000, sendTimeoutMs: 60_000, retryMs: 10 };
const TIMEOUTS = {
  ...QUICK,
  typingMs: 4_000,
  consentMs: 600_000,
  toolsMs: 20_000,
  activityMs: 20_000,
  progressMs: 10,
  flushMs: 100,
  closeMs: 100,
};

test('whatever hangs, the host stops, and nothing is lost or said twice', async () => {
  using project = new TestProject();
  const sandbox = {
    open: () => never(),
    stop: () => never(),
    warm: () => 0,
    close: () => never(),
  };
  const first = await project.start({ over: { timeouts: TIMEOUTS, sandbox } });
  const { terminal, chat, host, store } = first;
  terminal.send = () => never();
  terminal.disconnect = () => never();
  chat.disconnect = () => Promise.reject(new Error('no'));
  await terminal.say('/groups');
  await terminal.say('ping');
  await vi.waitFor(() => expect(store.turns.counts()).toMatchObject({ running: 1, unsent: 1 }));
  await host.stop(100);
  expect(store.turns.counts()).toMatchObject({ queued: 1, running: 0 });
  store.close();

  const second = await project.start();
  await vi.waitFor(() => expect(textsOf(second.terminal)).toHaveLength(2));
  expect(textsOf(second.terminal).toSorted()[1]).toBe('pong');
  await second.stop();
});

test('a turn that ends in time is answered, and the answer is sent before the end', async () => {
  using project = new TestProject();
  const turn = Promise.withResolvers<void>();
  const assistant = await project.start({ agent: () => turn.promise.then(() => answers('pong')) });
  await assistant.terminal.say('ping');
  await vi.waitFor(() => expect(assistant.store.turns.counts().running).toBe(1));
  const stopped = assistant.stop();
  turn.resolve();
  await stopped;
  expect(textsOf(assistant.terminal)).toEqual(['pong']);
});

test('an agent that dies while the assistant stops has said nothing about the question', async () => {
  using project = new TestProject();
  const turn = Promise.withResolvers<void>();
  const died = { kind: 'failed' as const, code: 'AGENT_DIED' as const, message: 'It died.' };
  const first = await project.start({ agent: () => turn.promise.then(() => died) });
  await first.terminal.say('ping');
  await vi.waitFor(() => expect(first.store.turns.counts().running).toBe(1));
  const stopped = first.stop();
  turn.resolve();
  await stopped;
  expect(first.terminal.sent).toEqual([]);
  const second = await project.start();
  await vi.waitFor(() => expect(textsOf(second.terminal)).toEqual(['pong']));
  await second.stop();
});

test('the owner ends what an agent does, and it is not asked again', async () => {
  using project = new TestProject();
  const prompts: string[] = [];
  let end = () => {};
  const assistant = await project.start({
    agent: async ({ prompt }) => {
      prompts.push(prompt);
      if (prompts.length > 1) return answers('pong');
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      return { kind: 'failed', code: 'AGENT_DIED', message: 'It was stopped.' };
    },
  });
  const { terminal } = assistant;
  await terminal.say('/stop');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['The agent is not at work here.']));
  await terminal.say('count to a million');
  await vi.waitFor(() => expect(prompts).toHaveLength(1));
  await terminal.say('/stop');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('Stopped.'));
  end();
  await terminal.say('ping');
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toBe('pong'));
  expect(prompts[1]).toBe('ping');
  await assistant.stop();
});

test('a turn that the owner stops while the engine is still being opened never begins', async () => {
  using project = new TestProject();
  const opening = Promise.withResolvers<void>();
  const prompts: string[] = [];
  const sandbox = testSandbox(async ({ prompt }) => {
    prompts.push(prompt);
    return answers('pong');
  });
  const open = () => opening.promise.then(() => ({ kind: 'ready' as const, sandbox }));
  const assistant = await project.start({ over: { sandbox: lazySandbox(open) } });
  const { terminal, store } = assistant;
  await terminal.say('count to a million');
  await vi.waitFor(() => expect(store.turns.counts().running).toBe(1));
  await terminal.say('/stop');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['Stopped.']));
  // The turn is over, although the engine is not there yet.
  await vi.waitFor(() => expect(store.turns.counts().running).toBe(0));
  await terminal.say('ping');
  opening.resolve();
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['Stopped.', 'pong']));
  expect(prompts).toEqual(['ping']);
  await assistant.stop();
});

test('a turn that the owner stops while services still look up their tools never begins, and delays nothing', async () => {
  using project = new TestProject();
  let isSlow = true;
  const asked: AbortSignal[] = [];
  const slow: StartService = () => ({
    stop() {},
    status: () => null,
    async toolsReady(_folder, signal) {
      if (!isSlow) return [];
      asked.push(signal);
      await once(signal, 'abort');
      return ['The depot is closed.'];
    },
  });
  // It hears no abort.
  const deaf: StartService = () => ({
    stop() {},
    status: () => null,
    toolsReady: () => (isSlow ? never() : Promise.resolve([])),
  });
  const prompts: string[] = [];
  const agent: AgentScript = async ({ prompt }) => {
    prompts.push(prompt);
    return answers('pong');
  };
  const services = [
    { name: 'slow', value: slow },
    { name: 'deaf', value: deaf },
  ];
  const setTimer = (ms: number, end: () => void) =>
    ms === TIMEOUTS.toolsMs ? () => {} : realTimer(ms, end);
  const assistant = await project.start({
    agent,
    over: { services, timeouts: TIMEOUTS, setTimer },
  });
  const { terminal, store } = assistant;
  await terminal.say('count to a million');
  await vi.waitFor(() => expect(asked).toHaveLength(1));
  await terminal.say('/stop');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['Stopped.']));
  await vi.waitFor(() => expect(store.turns.counts().running).toBe(0));
  isSlow = false;
  await terminal.say('ping');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['Stopped.', 'pong']));
  expect(prompts).toEqual(['ping']);
  await assistant.stop();
});

test('a turn that waits because all agents are busy elsewhere is stopped too', async () => {
  using project = new TestProject();
  const elsewhere = Promise.withResolvers<void>();
  const prompts: string[] = [];
  const agent: AgentScript = async ({ prompt, folder }) => {
    prompts.push(prompt);
    if (folder !== 'main') await elsewhere.promise;
    return answers('pong');
  };
  const assistant = await project.start({ agent, environment: { CLAW_MAX_AGENTS: '1' } });
  const { terminal, chat, store } = assistant;
  await chat.say('hello', { jid: 'chat:ada' });
  await vi.waitFor(() => expect(prompts).toHaveLength(1));
  await terminal.say('count to a million');
  await vi.waitFor(() => expect(store.turns.counts()).toMatchObject({ running: 1, queued: 1 }));
  await terminal.say('/stop');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['Stopped.']));
  expect(store.turns.counts()).toMatchObject({ running: 1, queued: 0 });
  elsewhere.resolve();
  await terminal.say('ping');
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['Stopped.', 'pong']));
  expect(prompts.slice(1)).toEqual(['ping']);
  await assistant.stop();
});

test('a command in between does not end the sign that the agent is at work', async () => {
  using project = new TestProject();
  const turn = Promise.withResolvers<void>();
  const assistant = await project.start({ agent: () => turn.promise.then(() => answers('pong')) });
  const { terminal } = assistant;
  const signs: boolean[] = [];
  terminal.setTyping = async (_jid, isTyping) => void signs.push(isTyping);
  await terminal.say('ping');
  await terminal.say('/groups');
  await vi.waitFor(() => expect(terminal.sent).toHaveLength(1));
  expect(signs).toEqual([true]);
  turn.resolve();
  await vi.waitFor(() => expect(signs).toEqual([true, false]));
  await assistant.stop();
});

test('the agent of a chat that is gone is stopped, and its answer dropped', async () => {
  using project = new TestProject();
  const turn = Promise.withResolvers<void>();
  const stopped: string[] = [];
  const stop = async (folder: string) => void stopped.push(folder);
  const rest = { stop, warm: () => 1, close: async () => {} };
  const begun = vi.fn();
  const runTurn = () => {
    begun();
    return turn.promise.then(() => answers('pong'));
  };
  const startProgram = () => Promise.reject(new Error('no programs'));
  const engine = { engine: 'bubblewrap' as const, description: 'test', runTurn, startProgram };
  const ready = { kind: 'ready' as const, sandbox: { ...engine, ...rest } };
  const assistant = await project.start({
    over: {
      timeouts: { ...TIMEOUTS, leaseMs: 3_000 },
      sandbox: { open: async () => ready, ...rest },
    },
  });
  const { chat, store } = assistant;
  await chat.say('hello', { jid: 'chat:ada' });
  await vi.waitFor(() => expect(begun).toHaveBeenCalled());
  store.groups.unregister('chat:ada');
  await vi.waitFor(() => expect(stopped).toHaveLength(1));
  turn.resolve();
  await assistant.stop();
  expect(chat.sent).toEqual([]);
});

test('a message that was put off is sent though the clock was set back', async () => {
  using project = new TestProject();
  let clock = Date.UTC(2026, 10, 21);
  const timeouts = { ...TIMEOUTS, retryMs: 60_000 };
  const assistant = await project.start({ over: { now: () => clock, timeouts } });
  const { terminal, store } = assistant;
  terminal.failures.push(new Error('busy'));
  await terminal.say('ping');
  await vi.waitFor(() => expect(store.outbox.heads()[0]?.attempts).toBe(1));
  clock -= 3_600_000;
  terminal.become({ state: 'connected', detail: null });
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['pong']));
  await assistant.stop();
});
