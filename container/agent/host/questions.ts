import { randomUUID } from 'node:crypto';
import { AgentFrame, type HostFrame } from '../../../src/sandbox/protocol/frames.ts';
import type { ToolQuestion } from '../agent-tool.ts';

type Decision = Extract<HostFrame, { type: 'decision' }>;
type Reply = Omit<Decision, 'type' | 'id'>;

/** Questions of the agent's own tools that wait for the owner. */
export class Questions {
  readonly #send: (frame: AgentFrame) => boolean;
  readonly #waiting = new Map<string, (reply: Reply) => void>();

  constructor(send: (frame: AgentFrame) => boolean) {
    this.#send = send;
  }

  /** @throws Error where the question is too long, or its choices are no words */
  async ask(
    turn: string,
    { text, choices = [], takesText, payload }: ToolQuestion,
  ): Promise<Reply> {
    const id = randomUUID();
    const frame: AgentFrame = {
      type: 'permission',
      id,
      turn,
      text,
      choices: [...choices],
      ...(takesText ? { takesText } : {}),
      payload,
    };
    if (takesText && choices.length > 0) {
      throw new Error('A question that takes text has no choices.');
    }
    // The host lets an agent go that sends it anything else.
    if (!AgentFrame.safeParse(frame).success) {
      throw new Error('A question has at most 4,000 characters and nine choices, each a word.');
    }
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#waiting.set(id, resolve);
    if (!this.#send(frame)) {
      this.#waiting.delete(id);
      throw new Error('The question is longer than 1 MB.');
    }
    return await promise;
  }

  receive({ type: _, id, ...reply }: Decision): void {
    this.#waiting.get(id)?.(reply);
    this.#waiting.delete(id);
  }
}
