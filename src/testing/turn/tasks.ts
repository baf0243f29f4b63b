import { setImmediate } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import {
  type AgentScript,
  type AssistantParts,
  answers,
  type TestAssistant,
  type TestProject,
  textsOf,
} from '../assistant.ts';
import { TestClock } from '../clock.ts';

export const FAMILY = 'chat:family';
const START = '2026-11-21T12:00:00Z';

/** Starts an assistant on the test's clock, with a group beside the main chat. */
export async function startWithFamily(
  project: TestProject,
  agent: AgentScript = async () => answers('pong'),
  clock = new TestClock(START),
  more: AssistantParts['over'] = {},
) {
  const timeZone = 'Europe/Berlin';
  const over = { now: clock.now, setTimer: clock.setTimer, timeZone, ...more };
  const wrapped: AgentScript = async (request, events) => {
    const [, input] = /^schedule (.*)$/.exec(request.prompt) ?? [];
    if (input === undefined) return await agent(request, events);
    const call = { folder: 'main', name: 'schedule_task', input: JSON.parse(input) };
    expect(await events.onTool(call)).toMatchObject({ ok: true });
    return answers('scheduled');
  };
  // Tests let days pass; when a conversation ends is for those that are about it.
  const environment = { SESSION_EXPIRY_HOURS: '0' };
  const assistant = await project.start({ agent: wrapped, over, environment });
  const { store } = assistant;
  store.chats.see({ jid: FAMILY, channel: 'chat', name: 'Family', isDirect: false }, 1);
  const group = { jid: FAMILY, folder: 'family', name: 'Family', triggerWord: null };
  store.groups.register({ ...group, needsTrigger: true, isMain: false }, 1);
  // What was said last is acknowledged first, as by a channel that is still connected.
  const stop = async (graceMs?: number) => {
    await setImmediate();
    await assistant.stop(graceMs);
  };
  return { ...assistant, clock, stop };
}

/** Lets the agent of a folder call tools in a turn of its own, and returns what they gave. */
export function toolCaller() {
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
export async function scheduleInFamily(assistant: TestAssistant, wanted: object): Promise<void> {
  await assistant.terminal.say(`schedule ${JSON.stringify({ ...wanted, group: 'family' })}`);
  await isIdle(assistant);
}

export function isIdle({ store }: TestAssistant): Promise<void> {
  return vi.waitFor(() => {
    expect(store.turns.counts()).toMatchObject({ queued: 0, running: 0, unsent: 0 });
  });
}

export async function commands(assistant: TestAssistant, text: string): Promise<string> {
  const before = assistant.terminal.sent.length;
  await assistant.terminal.say(text);
  await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(before));
  await isIdle(assistant);
  return textsOf(assistant.terminal).slice(before).join('\n');
}

export const remind = { prompt: 'Remind us of the bins', kind: 'cron', schedule: '0 20 * * 0' };
export const soon = { prompt: 'Say hello', kind: 'at', schedule: 'in 10 minutes' };
