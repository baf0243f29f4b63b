import { dynamicTool, jsonSchema, type ToolSet, tool } from 'ai';
import { cutResult } from '../../src/lib/cut-text.ts';
import type { TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import type { AgentTool } from './agent-tool.ts';
import type { HostTools } from './host-tools.ts';
import type { Questions } from './questions.ts';

export type ToolParts = {
  readonly tools: readonly AgentTool[];
  readonly hostTools: HostTools;
  readonly questions: Questions;
};

/**
 * Returns all tools of a turn: the agent's own, and the host's, which win where a name is in both.
 * Results of the host's were cut by its guards.
 */
export function toolSet(frame: TurnFrame, { tools, hostTools, questions }: ToolParts): ToolSet {
  const own = tools.map(({ name, description, input, run }) => [
    name,
    tool({
      description,
      inputSchema: input,
      execute: async (given: unknown, { abortSignal }) =>
        cutResult(
          await run(given, {
            signal: abortSignal ?? NEVER,
            ask: (question) => questions.ask(frame.id, question),
          }),
        ),
    }),
  ]);
  const hosts = frame.tools.map(({ name, description, inputSchema }) => [
    name,
    dynamicTool({
      description,
      inputSchema: jsonSchema(inputSchema),
      execute: async (given) => await hostTools.call(frame.id, name, given),
    }),
  ]);
  return Object.fromEntries([...own, ...hosts]);
}

const NEVER = new AbortController().signal;
