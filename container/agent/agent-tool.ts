import type { z } from 'zod';

/**
 * A tool of the agent's own, as a file in `tools/` exports it under the name `tool`.
 *
 * `run` returns text for the model and throws an Error whose message tells the model what to do
 * differently. It works in the container with the container's rights, and needs no checks of its own.
 */
export type AgentTool<Input = unknown> = {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly run: (input: Input, context: ToolContext) => Promise<string>;
};

/** A question of a tool. No choices: yes or no. */
export type ToolQuestion = {
  readonly text: string;
  readonly choices?: readonly { readonly word: string; readonly label: string }[];
  /** The owner's next message is the answer, in their own words; `cancel` gives none. */
  readonly takesText?: true;
  /** The subject of the answer, shown to the agent exactly as it is. */
  readonly payload?: unknown;
};

export type ToolContext = {
  /** Aborted when the turn is. */
  readonly signal: AbortSignal;
  /**
   * Asks the owner and waits for the word they choose; it is also `no` where no answer comes in time. `text` is
   * an answer in their own words.
   */
  readonly ask: (question: ToolQuestion) => Promise<{
    readonly word: string;
    readonly isAnswered: boolean;
    readonly text?: string | undefined;
  }>;
};

/** Checks a tool's input before it is run; without it, the types of input and schema could part. */
export function defineTool<Input>(tool: AgentTool<Input>): AgentTool {
  return { ...tool, run: (input, context) => tool.run(tool.input.parse(input), context) };
}
