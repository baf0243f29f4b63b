import { randomUUID } from 'node:crypto';
import { ToolFault } from '../../../src/lib/tool-fault.ts';
import type { AgentFrame, HostFrame } from '../../../src/sandbox/protocol/frames.ts';

type ToolResult = Extract<HostFrame, { type: 'tool_result' }>;

/** Calls of the host's tools that are under way. */
export class HostTools {
  readonly #send: (frame: AgentFrame) => boolean;
  readonly #waiting = new Map<string, (result: ToolResult) => void>();

  constructor(send: (frame: AgentFrame) => boolean) {
    this.#send = send;
  }

  /** @throws Error with the host's words when it refuses, or when the input is too long to send */
  async call(turn: string, name: string, input: unknown): Promise<string> {
    const id = randomUUID();
    return await this.awaitResult(id, () =>
      this.#send({ type: 'tool_call', id, turn, name, input }),
    );
  }

  /** Sends something and waits for the result of that id. @throws as `call` does */
  async awaitResult(id: string, send: () => boolean): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<ToolResult>();
    this.#waiting.set(id, resolve);
    if (!send()) {
      this.#waiting.delete(id);
      throw new ToolFault('bad-arguments', 'The input is longer than 1 MB.');
    }
    const { ok, value, fault = 'failed' } = await promise;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (!ok) throw new ToolFault(fault, text);
    return text;
  }

  receive(result: ToolResult): void {
    this.#waiting.get(result.id)?.(result);
    this.#waiting.delete(result.id);
  }
}
