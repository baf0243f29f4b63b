import { randomUUID } from 'node:crypto';
import { faultKindOf, ToolFault } from '../../../src/lib/tool-fault.ts';
import type { AgentFrame, HostFrame, TurnFrame } from '../../../src/sandbox/protocol/frames.ts';
import type { HostTools } from './host-tools.ts';

type Verdict = Extract<HostFrame, { type: 'tool_verdict' }>;

/** Calls of the agent's own tools at which guards of the host look. */
export class GuardedTools {
  readonly #send: (frame: AgentFrame) => boolean;
  readonly #hostTools: Pick<HostTools, 'awaitResult'>;
  readonly #waiting = new Map<string, (verdict: Verdict) => void>();

  constructor(send: (frame: AgentFrame) => boolean, hostTools: Pick<HostTools, 'awaitResult'>) {
    this.#send = send;
    this.#hostTools = hostTools;
  }

  /**
   * Runs a tool once the host allows the call, and returns the result that the host lets through.
   *
   * @throws Error with the reason why it does not run, and what the tool throws
   */
  async run(
    { id: turn, guarded = [] }: TurnFrame,
    { name, input }: { readonly name: string; readonly input: unknown },
    work: () => Promise<string>,
  ): Promise<string> {
    if (guarded !== 'all' && !guarded.includes(name)) return await work();
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Verdict>();
    this.#waiting.set(id, resolve);
    if (!this.#send({ type: 'tool_check', id, turn, name, input })) {
      this.#waiting.delete(id);
      throw new ToolFault('bad-arguments', 'The input is longer than 1 MB.');
    }
    const { isAllowed, reason, seesResult } = await promise;
    if (!isAllowed) throw new ToolFault('not-allowed', reason ?? 'This call is not allowed.');
    if (!seesResult) return await work();
    const result = await work().then(
      (value) => ({ ok: true, value, kind: null }),
      (error: unknown) => ({
        ok: false,
        value: error instanceof Error ? error.message : String(error),
        kind: faultKindOf(error),
      }),
    );
    const { ok, value, kind } = result;
    try {
      return await this.#hostTools.awaitResult(id, () =>
        this.#send({ type: 'tool_ran', id, turn, ok, value }),
      );
    } catch (error) {
      // The host has seen the words, and may have changed them; the kind is the tool's own.
      if (kind === null || !(error instanceof Error)) throw error;
      throw new ToolFault(kind, error.message, { cause: error });
    }
  }

  receive(verdict: Verdict): void {
    this.#waiting.get(verdict.id)?.(verdict);
    this.#waiting.delete(verdict.id);
  }
}
