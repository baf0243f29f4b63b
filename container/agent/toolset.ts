import { dynamicTool, jsonSchema, type ToolSet, tool } from 'ai';
import { cutResult } from '../../src/lib/cut-text.ts';
import { ToolFault, withFaultKind } from '../../src/lib/tool-fault.ts';
import { toolInputFor } from '../../src/lib/tool-schema.ts';
import type { TurnFrame } from '../../src/sandbox/protocol/frames.ts';
import type { AgentTool, RunLoop } from './agent-tool.ts';
import type { GuardedTools } from './host/guarded-tools.ts';
import type { HostTools } from './host/host-tools.ts';
import type { Questions } from './host/questions.ts';

export type ToolParts = {
  readonly tools: readonly AgentTool[];
  readonly hostTools: HostTools;
  readonly guardedTools: GuardedTools;
  readonly questions: Questions;
};

const GROUP_FOLDER = '/workspace/group';

/** Makes the loop of one call of a tool. */
export type LoopMaker = (call: { readonly tool: string; readonly signal: AbortSignal }) => RunLoop;

/**
 * Returns all tools of a turn: the agent's own, and the host's, which win if both have the same name. The host's
 * guards have already cut the results of its tools.
 */
export function toolSet(
  frame: TurnFrame,
  { tools, hostTools, guardedTools, questions }: ToolParts,
  loopFor: LoopMaker,
): ToolSet {
  const callHost = async (called: string, input: unknown) => {
    if (!frame.tools.some(({ name }) => name === called)) {
      throw new ToolFault('not-found', `The host has no tool ${called} in this turn.`);
    }
    return await hostTools.call(frame.id, called, input);
  };
  const offered = tools.filter(({ name }) => !frame.without?.includes(name));
  const own = offered.map(({ name, description, input, run }) => [
    name,
    tool({
      description,
      inputSchema: input,
      execute: async (given: unknown, { abortSignal: signal = NEVER }) =>
        await told(() =>
          guardedTools.run(frame, { name, input: given }, async () =>
            cutResult(
              await run(given, {
                signal,
                groupFolder: GROUP_FOLDER,
                shellTimeoutMs: frame.shellTimeoutMs,
                factsOf: (section) => frame.sections?.[section] ?? {},
                ask: (question) => questions.ask(frame.id, question),
                callHost,
                runLoop: loopFor({ tool: name, signal }),
              }),
            ),
          ),
        ),
    }),
  ]);
  const hosts = frame.tools.map(({ name, description, inputSchema }) => {
    const { schema, restore } = toolInputFor(inputSchema);
    return [
      name,
      dynamicTool({
        description,
        inputSchema: jsonSchema(schema),
        execute: async (given) => await told(() => hostTools.call(frame.id, name, restore(given))),
      }),
    ];
  });
  return Object.fromEntries([...own, ...hosts]);
}

/** Runs a tool for the model, which reads the kind of an error before its words. */
async function told(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    throw withFaultKind(error);
  }
}

const NEVER = new AbortController().signal;
