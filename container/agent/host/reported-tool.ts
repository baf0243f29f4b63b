import { randomUUID } from 'node:crypto';
import { cutResult } from '../../../src/lib/cut-text.ts';
import type { AgentFrame } from '../../../src/sandbox/protocol/frames.ts';
import type { AgentTool } from '../agent-tool.ts';
import type { HostTools } from './host-tools.ts';

const MAX_ERROR_CHARS = 300;

/** A path or command that leads to files which came with messages; `/workspace/media` has them. */
const RECEIVED = /\bmedia\b/i;

function isOutside({ brings = 'outside' }: AgentTool, input: unknown): boolean {
  return brings === 'files' ? RECEIVED.test(JSON.stringify(input) ?? '') : brings === 'outside';
}

type ReportParts = {
  readonly turn: string;
  readonly send: (frame: AgentFrame) => boolean;
  readonly hostTools: Pick<HostTools, 'awaitResult'>;
};

/**
 * Tells the host when a tool of the agent's own begins and ends: the record of the turn has it, and so has a later run.
 * A tool that must not run twice begins once the host has noted it: whatever ends now, a later run knows of it.
 */
export function reported(tool: AgentTool, { turn, send, hostTools }: ReportParts): AgentTool {
  return {
    ...tool,
    run: async (input, context) => {
      const id = randomUUID();
      const { name, doing } = tool;
      const began = {
        type: 'tool_began',
        id,
        turn,
        name,
        ...(doing === undefined ? {} : { doing }),
        isRepeatable: tool.repeat === 'harmless',
        isOutside: isOutside(tool, input),
      } as const;
      // An input that does not fit a frame is left out; what runs is said all the same.
      const begin = () => send({ ...began, input }) || send(began);
      if (began.isRepeatable) begin();
      else await hostTools.awaitResult(id, begin);
      try {
        const result = await tool.run(input, context);
        send({ type: 'tool_ended', id, turn, ok: true, result: cutResult(result) });
        return result;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const short = reason.slice(0, MAX_ERROR_CHARS);
        send({ type: 'tool_ended', id, turn, ok: false, error: short, result: cutResult(reason) });
        throw error;
      }
    },
  };
}
