import type { HostToolCall, HostToolResult } from '../../sandbox/sandbox.ts';
import type { AgentTool, ToolContext } from '../contracts/tool.ts';

export type ToolCallOptions = Omit<ToolContext, 'caller'> & {
  readonly tools: readonly AgentTool[];
  /** The chat whose turn the agent works on. */
  readonly jid: string;
};

/**
 * Answers an agent's call of a host tool. Never rejects: a refusal is a result the agent can read.
 * Whose it is was decided by the socket, which gave it its folder, and the turn that runs on it;
 * nothing in the input can claim another.
 */
export async function callTool(
  { tools, jid, ...context }: ToolCallOptions,
  call: HostToolCall,
): Promise<HostToolResult> {
  const tool = tools.find((candidate) => candidate.name === call.name);
  if (tool === undefined) return refusal(`There is no host tool ${call.name}.`);
  const caller = context.store.groups.byJid(jid);
  if (caller?.folder !== call.folder) return refusal('This chat is not registered.');
  if (tool.isMainOnly && !caller.isMain) {
    return refusal(`Only the main chat may use ${call.name}.`);
  }
  const input = tool.input.safeParse(call.input);
  if (!input.success) return refusal(`The input does not fit: ${input.error.issues[0]?.message}`);
  try {
    return { ok: true, value: await tool.run({ ...context, caller }, input.data) };
  } catch (error) {
    return refusal(error instanceof Error ? error.message : String(error));
  }
}

function refusal(value: string): HostToolResult {
  return { ok: false, value };
}
