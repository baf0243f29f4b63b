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
  /** Tells those who wait what it does, in a few words: `reading files`. Made of its name by default. */
  readonly doing?: string;
  readonly input: z.ZodType<Input>;
  /**
   * Whether a second call with the same input is harmless, as reading is. Where the assistant ends while another tool runs,
   * the model is told to check what was done before it calls it again. Once by default.
   */
  readonly repeat?: 'harmless' | 'once';
  /**
   * Who wrote what it returns: `own` for the people here, the owner and the agent; `outside` for anybody else, which is
   * the default; `files` for own files, and outside where the input names a file that was received.
   */
  readonly brings?: 'own' | 'outside' | 'files';
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

/** A piece of work for a loop of its own: the model and its tools, until it answers. */
export type LoopRequest = {
  /** The task. The loop knows nothing of the conversation but this. */
  readonly prompt: string;
  /** Instructions, in place of those that a loop gets otherwise. */
  readonly system?: string;
  /** Names of the tools it may call, of those of the turn; all but the calling one by default. */
  readonly tools?: readonly string[];
  /** At most so many rounds of tool calls; those of the turn by default, and never more. */
  readonly maxRounds?: number;
};

/** Runs a loop. @returns the last text @throws Error with the reason where the model cannot answer */
export type RunLoop = (request: LoopRequest) => Promise<string>;

export type ToolContext = {
  /** Aborted when the turn is. */
  readonly signal: AbortSignal;
  /** The group's folder, absolute: what is written there stays. */
  readonly groupFolder: string;
  /** The longest that a command may take, in milliseconds; 120 s if left out. */
  readonly shellTimeoutMs?: number | undefined;
  /** Returns the facts of this turn that a section of the host's prompt gives to its part in the container. */
  readonly factsOf: (section: string) => Readonly<Record<string, unknown>>;
  /**
   * Calls a tool of the host as the model would: with the same rights, the same limit of calls and the same
   * guards, which may ask the owner.
   *
   * @throws Error with the host's words where it refuses, and where the turn has no such tool
   */
  readonly callHost: (name: string, input: unknown) => Promise<string>;
  /**
   * Lets the turn's model work on something apart from the conversation, within the same turn: its calls
   * count for the turn's budget, and it ends with the turn. A tool that is called within a loop has none to
   * run, so that loops do not breed.
   */
  readonly runLoop: RunLoop;
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
