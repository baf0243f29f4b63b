/** The chat in which a tool, a command, a section of the prompt or a model router calls a service. */
export type ServiceCaller = {
  readonly folder: string;
  readonly jid: string;
  /** The agent's turn; null for a command. Sections and routers call before the agent begins. */
  readonly turn: string | null;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};

/** Calls a service of the tree by its name. @throws Error in words for the owner where it is not running */
export type CallService = (service: string, request: unknown) => Promise<unknown>;
