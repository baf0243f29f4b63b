import type { TurnEvents } from '../../sandbox/sandbox.ts';
import type { AgentScript, AssistantParts, TestAssistant, TestProject } from '../assistant.ts';

// The process that is killed imports this, so no test framework is loaded here.

/** A call of a tool that must not take effect twice because its turn was interrupted. */
export type Action = {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** How its result begins; null for a call whose answer never comes: its turn is interrupted in the middle of it. */
  readonly result: string | null;
  /** Counts how often it took effect, by what is outside of the assistant's process. */
  readonly timesDone: (project: TestProject) => number;
  /** How often it has taken effect when a new turn makes it again: twice by default. */
  readonly timesInAll?: number;
};

/** Where actions are made. The process that is killed imports it by its path, so that it is a module. */
export type Scene = {
  /** Prepares the project's folder, once. */
  readonly prepare?: (project: TestProject) => Promise<AsyncDisposable>;
  readonly partsFor?: (dir: string, agent: AgentScript) => AssistantParts;
  /** Resolves when a turn can make all actions. */
  readonly ready?: (assistant: TestAssistant) => Promise<void>;
  /** Resolves when the action without an answer has taken effect. */
  readonly begun?: (dir: string) => Promise<void>;
};

/** Makes every call as an agent does, and leaves two without an answer. */
export async function makeAll(
  actions: readonly Pick<Action, 'name' | 'input' | 'result'>[],
  events: TurnEvents,
  begun: () => Promise<void> = async () => {},
): Promise<AbortController> {
  const cut = new AbortController();
  for (const { name, input, result } of actions) {
    const call = events.onTool({ folder: 'main', name, input }, cut.signal);
    await (result === null ? begun() : call);
  }
  const own = { kind: 'began', isOutside: false } as const;
  events.onOwnToolRun?.({ ...own, id: 'a', name: 'remember', input: { text: 'tea' } });
  events.onOwnToolRun?.({ kind: 'ended', id: 'a', error: null, result: 'Noted.' });
  events.onOwnToolRun?.({ ...own, id: 'b', name: 'shell', input: { command: 'pay' } });
  return cut;
}

/**
 * The scene of the core's tools: a chat that the owner can register.
 *
 * @public imported by the path of this file
 */
export const scene: Scene = {
  ready: async ({ chat }) => await chat.meet('chat:f', 'Family'),
};
