import { setImmediate } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import type { ChannelCapabilities } from '../../channels/channel.ts';
import type { TurnEvents, TurnOutcome } from '../../sandbox/sandbox.ts';
import type { AgentScript, TestProject } from '../assistant.ts';
import { startWithFamily } from './tasks.ts';

/** A messenger that shows drafts by edits. */
export const EDITS: ChannelCapabilities = { edits: true, drafts: { everyMs: 1_000 } };

/** Makes an agent whose turn the test leads: it writes, works and ends when the test says so. */
export function led() {
  let events: TurnEvents | null = null;
  let end: (outcome: TurnOutcome) => void = () => {};
  const agent: AgentScript = (_request, given) => {
    events = given;
    const { promise, resolve } = Promise.withResolvers<TurnOutcome>();
    end = resolve;
    return promise;
  };
  return {
    agent,
    isAtWork: () => vi.waitFor(() => expect(events).not.toBeNull()),
    write: (text: string) => events?.onText?.(text),
    call: (name: string, input: object) => events?.onTool({ folder: 'main', name, input }),
    events: () => events,
    end(outcome: TurnOutcome) {
      events = null;
      end(outcome);
    },
  };
}

/** Starts an assistant whose terminal shows drafts as a messenger does, with a turn at work. */
export async function startWriting(project: TestProject, can = EDITS) {
  const turn = led();
  const assistant = await startWithFamily(project, turn.agent);
  const { terminal, clock } = assistant;
  terminal.capabilities = can;
  await terminal.say('Tell me all of it', { id: 'q1' });
  await turn.isAtWork();
  /** Lets time pass until a step, if any, is on the screen. */
  const pass = async (ms: number) => {
    clock.pass(ms);
    await setImmediate();
    await setImmediate();
  };
  const shown = () => terminal.drafts.map(({ text }) => text);
  return { ...assistant, turn, pass, shown };
}
