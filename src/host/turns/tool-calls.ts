import type { HostTool, HostToolCall, HostToolResult } from '../../sandbox/sandbox.ts';
import type { Group, Store } from '../../store/store.ts';
import type { Tool, ToolCall } from '../contracts/tool.ts';
import { describeTool } from './toolbox.ts';

export type ToolCallOptions = Omit<ToolCall, 'caller'> & {
  readonly tools: readonly Tool[];
  /** The chat whose turn the agent works on. */
  readonly jid: string;
};

/** The turn that tools are offered to. */
export type ToolTurn = { readonly isMain: boolean; readonly isTask: boolean };

/**
 * Describes the tools that the agent of a turn may call, and no others, because every description costs
 * tokens on every call of the model.
 */
export function offerOf(tools: readonly Tool[], turn: ToolTurn): readonly HostTool[] {
  return tools.filter((tool) => isForTurn(tool, turn)).map(describeTool);
}

function isForTurn({ isMainOnly, isTaskOnly = false }: Tool, turn: ToolTurn): boolean {
  return (turn.isMain || !isMainOnly) && (turn.isTask || !isTaskOnly);
}

/**
 * Answers an agent's call of a host tool. Never rejects: a refusal is a result the agent can read.
 * Whose it is was decided by the socket, which gave it its folder, and the turn that runs on it;
 * nothing in the input can claim another.
 */
export async function callTool(
  options: ToolCallOptions,
  call: HostToolCall,
): Promise<HostToolResult> {
  const tool = options.tools.find((candidate) => candidate.name === call.name);
  if (tool === undefined) return refusal(`There is no host tool ${call.name}.`);
  const caller = callerOf(options, call);
  if (caller === null) return refusal('This chat is not registered.');
  if (tool.isMainOnly && !caller.isMain) {
    return refusal(`Only the main chat may use ${call.name}.`);
  }
  const input = tool.input.safeParse(call.input);
  if (!input.success) return refusal(`The input does not fit: ${input.error.issues[0]?.message}`);
  try {
    return { ok: true, value: await tool.run(contextOf(options, caller), input.data) };
  } catch (error) {
    return refusal(error instanceof Error ? error.message : String(error));
  }
}

function callerOf(
  { store, jid }: { readonly store: Store; readonly jid: string },
  { folder }: HostToolCall,
): Group | null {
  const group = store.groups.byJid(jid);
  return group?.folder === folder ? group : null;
}

/** Field by field: a tool holds what the contract names, and nothing that the host has beside it. */
function contextOf(options: ToolCallOptions, caller: Group): ToolCall {
  const { store, send, reachOf, registry, tasks, fetchAttachment } = options;
  const { timeZone, ownerCommand, staySilent } = options;
  return {
    caller,
    store,
    send,
    reachOf,
    registry,
    tasks,
    fetchAttachment,
    timeZone,
    ownerCommand,
    staySilent,
  };
}

function refusal(value: string): HostToolResult {
  return { ok: false, value };
}
