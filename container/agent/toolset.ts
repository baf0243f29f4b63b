import { dynamicTool, jsonSchema, type ToolSet, tool } from 'ai';
import { cutText } from '../../src/sandbox/protocol/answer-text.ts';
import type { TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import type { AgentTool } from './agent-tool.ts';
import type { HostTools } from './host-tools.ts';

/** What a model is shown of one result. */
const MAX_RESULT_BYTES = 65_536;

export type ToolParts = {
  readonly tools: readonly AgentTool[];
  readonly hostTools: HostTools;
};

/** Returns all tools of a turn: the agent's own, and the host's, which win where a name is in both. */
export function toolSet(frame: TurnFrame, { tools, hostTools }: ToolParts): ToolSet {
  const own = tools.map(({ name, description, input, run }) => [
    name,
    tool({
      description,
      inputSchema: input,
      execute: async (given: unknown, { abortSignal }) =>
        shown(await run(given, { signal: abortSignal ?? NEVER })),
    }),
  ]);
  const hosts = frame.tools.map(({ name, description, inputSchema }) => [
    name,
    dynamicTool({
      description,
      inputSchema: jsonSchema(inputSchema),
      execute: async (given) => shown(await hostTools.call(frame.id, name, given)),
    }),
  ]);
  return Object.fromEntries([...own, ...hosts]);
}

const NEVER = new AbortController().signal;

function shown(result: string): string {
  const { text, isTruncated } = cutText(result, MAX_RESULT_BYTES);
  return isTruncated ? `${text}\n[cut at 64 KB]` : text;
}
