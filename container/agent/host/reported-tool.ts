import { randomUUID } from 'node:crypto';
import type { AgentFrame } from '../../../src/sandbox/protocol/frames.ts';
import type { AgentTool } from '../agent-tool.ts';

const MAX_ERROR_CHARS = 300;

/** Tells the host when a tool of the agent's own begins and ends, so that the record of the turn has it. */
export function reported(
  tool: AgentTool,
  { turn, send }: { readonly turn: string; readonly send: (frame: AgentFrame) => boolean },
): AgentTool {
  return {
    ...tool,
    run: async (input, context) => {
      const id = randomUUID();
      const { name, doing } = tool;
      send({ type: 'tool_began', id, turn, name, ...(doing === undefined ? {} : { doing }) });
      try {
        const result = await tool.run(input, context);
        send({ type: 'tool_ended', id, turn, ok: true });
        return result;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        send({ type: 'tool_ended', id, turn, ok: false, error: reason.slice(0, MAX_ERROR_CHARS) });
        throw error;
      }
    },
  };
}
