import { z } from 'zod';
import { discoverExports } from '../../lib/discover.ts';
import type { HostTool } from '../../sandbox/sandbox.ts';
import type { Group, Store } from '../../store/store.ts';
import type { FetchAttachment } from '../attachments/attachments.ts';
import type { Registry } from '../groups/registry.ts';
import type { TaskBook } from '../scheduler/task-book.ts';

/** What a tool may use. `caller` was decided by the socket that the call came through. */
export type ToolContext = {
  readonly caller: Group;
  readonly store: Store;
  /** Queues a message for a registered group. */
  readonly send: (jid: string, text: string) => void;
  /** Whether a chat can be written to: now, once its channel is connected, or not at all. */
  readonly reachOf: (jid: string) => 'connected' | 'waiting' | 'gone';
  readonly registry: Registry;
  readonly tasks: TaskBook;
  readonly fetchAttachment: FetchAttachment;
  readonly timeZone: string;
  /** Calls an owner's command as far as an agent may: it looks, or proposes it to the owner. */
  readonly ownerCommand: (text: string) => Promise<string>;
  /** Ends the turn without a message; null where somebody has asked and waits for an answer. */
  readonly staySilent: (() => void) | null;
};

/** What a file in `src/tools/` exports as `tool` to be discovered: something agents can ask for. */
export type AgentTool = {
  readonly name: string;
  readonly description: string;
  readonly isMainOnly: boolean;
  /** Offered in scheduled tasks and nowhere else. False by default. */
  readonly isTaskOnly?: boolean;
  readonly input: z.ZodType;
  /** Gets input that has passed the schema. What it throws becomes the agent's error text. */
  run(context: ToolContext, input: unknown): Promise<unknown>;
};

const Tool = z.custom<AgentTool>(
  (value) =>
    z
      .looseObject({ name: z.string().regex(/^[a-z][a-z0-9_]{0,62}$/), run: z.function() })
      .safeParse(value).success,
  'must be an AgentTool: { name, description, isMainOnly, input, run }',
);

/** Every host tool of this tree. */
export function discoverTools(
  folder = `${import.meta.dirname}/../../tools`,
): Promise<readonly AgentTool[]> {
  return discoverExports(folder, 'tool', Tool);
}

/** The turn that tools are offered to. */
export type ToolTurn = { readonly isMain: boolean; readonly isTask: boolean };

/**
 * Returns a function that lists the tools of one turn: those that its agent may call, and no others,
 * because every description costs tokens on every call of the model.
 */
export function createToolOffer(
  tools: readonly AgentTool[],
): (turn: ToolTurn) => readonly HostTool[] {
  const described = tools.map((tool) => ({
    tool,
    offered: {
      name: tool.name,
      description: tool.description,
      inputSchema: z.toJSONSchema(tool.input),
    },
  }));
  return (turn) =>
    described.filter(({ tool }) => isForTurn(tool, turn)).map(({ offered }) => offered);
}

function isForTurn({ isMainOnly, isTaskOnly = false }: AgentTool, turn: ToolTurn): boolean {
  return (turn.isMain || !isMainOnly) && (turn.isTask || !isTaskOnly);
}
