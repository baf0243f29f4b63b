import type { ActivityWatchdog } from '../../lib/activity-watchdog.ts';
import type { TokenBucket } from '../../lib/token-bucket.ts';
import type { AgentFrame, HostFrame } from '../protocol/frames.ts';
import type { AgentReply, HostToolResult, OwnToolVerdict, TurnEvents } from '../sandbox.ts';

/** Models call a few tools at once; each of these may hold a file, or a place in a queue. */
const MAX_CALLS = 32;
/** An agent that goes on after so many refusals in one turn does not listen, and is stopped. */
const MAX_REFUSED_CALLS = 1_000;

type ToolFrame = Extract<AgentFrame, { type: 'tool_call' }>;
type CheckFrame = Extract<AgentFrame, { type: 'tool_check' }>;
type ResultFrame = Extract<AgentFrame, { type: 'tool_ran' }>;
type QuestionFrame = Extract<AgentFrame, { type: 'permission' }>;

export type TurnCallsOptions = {
  /** The folder of the agent's group. */
  readonly folder: string;
  readonly events: Pick<TurnEvents, 'onTool' | 'onOwnTool' | 'onAsk'>;
  /** The names of the host's tools; a call of any other is answered here. */
  readonly toolNames: ReadonlySet<string>;
  /** Counts the calls of this group, over all its turns. */
  readonly callLimit: Pick<TokenBucket, 'take'>;
  readonly send: (frame: HostFrame) => boolean;
  /** Does not count the time in which the agent waits for the host. */
  readonly silence: Pick<ActivityWatchdog, 'during'>;
  /** Aborted when the turn is over: nothing is sent any more. */
  readonly signal: AbortSignal;
};

/** An agent's calls of host tools, and its questions to people, in one turn. */
export class TurnCalls {
  readonly #options: TurnCallsOptions;
  /** Calls that are under way. */
  #calls = 0;
  #refused = 0;
  /** Handlers of the results of the agent's own tools that run, by the ids of their calls. */
  readonly #awaited = new Map<string, After>();

  constructor(options: TurnCallsOptions) {
    this.#options = options;
  }

  /** Takes a call, or refuses it before any tool sees it. Returns what is wrong with the agent, or null. */
  takeCall({ id, name, input }: ToolFrame): string | null {
    if (this.#isWithinLimits()) {
      void this.#callTool(id, name, input);
      return null;
    }
    if (this.#refuse()) return 'a flood of tool calls';
    this.#options.send({ type: 'tool_result', id, ok: false, value: TOO_MANY });
    return null;
  }

  /** Takes a call of a tool of the agent's own, before it runs. Returns the same. */
  takeCheck({ id, name, input }: CheckFrame): string | null {
    if (this.#awaited.size < MAX_CALLS && this.#isWithinLimits()) {
      void this.#check(id, name, input);
      return null;
    }
    if (this.#refuse()) return 'a flood of tool calls';
    this.#send(id, { kind: 'refused', reason: TOO_MANY });
    return null;
  }

  /** Takes the result of such a call. Returns the same. */
  takeResult({ id, ok, value }: ResultFrame): string | null {
    const after = this.#awaited.get(id);
    if (after === undefined) return 'a result that was not asked for';
    this.#awaited.delete(id);
    void this.#answer(id, () => after({ ok, value }));
    return null;
  }

  /** Takes a question; it counts as a call, because a person has to read it. Returns the same. */
  takeQuestion(frame: QuestionFrame): string | null {
    if (this.#isWithinLimits()) {
      void this.#ask(frame);
      return null;
    }
    if (this.#refuse()) return 'a flood of questions';
    this.#options.send({ type: 'decision', id: frame.id, ...NOT_ANSWERED });
    return null;
  }

  #isWithinLimits(): boolean {
    return this.#calls < MAX_CALLS && this.#options.callLimit.take();
  }

  /** Counts a refusal. Returns true if there were too many. */
  #refuse(): boolean {
    this.#refused += 1;
    return this.#refused > MAX_REFUSED_CALLS;
  }

  async #ask(frame: QuestionFrame): Promise<void> {
    const { id, text, choices, takesText, payload } = frame;
    const { events, send, silence, signal } = this.#options;
    let reply: AgentReply = NOT_ANSWERED;
    this.#calls += 1;
    try {
      const asked = events.onAsk?.({ text, choices, ...(takesText ? { takesText } : {}), payload });
      if (asked !== undefined) reply = await silence.during(asked);
    } catch {
      // A question that could not be put has no answer.
    } finally {
      this.#calls -= 1;
    }
    if (signal.aborted) return;
    const { word, isAnswered, text: said } = reply;
    send({ type: 'decision', id, word, isAnswered, ...(said === undefined ? {} : { text: said }) });
  }

  async #callTool(id: string, name: string, input: unknown): Promise<void> {
    const { folder, events, toolNames, signal } = this.#options;
    await this.#answer(id, async () =>
      toolNames.has(name)
        ? await events.onTool({ folder, name, input }, signal)
        : { ok: false, value: `There is no tool "${name}".`, fault: 'not-found' },
    );
  }

  async #check(id: string, name: string, input: unknown): Promise<void> {
    const { folder, events, silence, signal } = this.#options;
    let verdict: OwnToolVerdict = { kind: 'refused', reason: 'Nothing here may allow this call.' };
    this.#calls += 1;
    try {
      const checked = events.onOwnTool?.({ folder, name, input });
      if (checked !== undefined) verdict = await silence.during(checked);
    } catch (error) {
      verdict = { kind: 'refused', reason: sentenceOf(error) };
    } finally {
      this.#calls -= 1;
    }
    if (!signal.aborted) this.#send(id, verdict);
  }

  #send(id: string, verdict: OwnToolVerdict): void {
    const { send } = this.#options;
    if (verdict.kind === 'refused') {
      const { reason } = verdict;
      send({ type: 'tool_verdict', id, isAllowed: false, reason, seesResult: false });
      return;
    }
    const { after } = verdict;
    if (after !== null) this.#awaited.set(id, after);
    send({ type: 'tool_verdict', id, isAllowed: true, seesResult: after !== null });
  }

  /** Sends the result of a call. */
  async #answer(id: string, work: () => Promise<HostToolResult>): Promise<void> {
    const { send, silence, signal } = this.#options;
    let result: HostToolResult;
    this.#calls += 1;
    try {
      result = await silence.during(work());
    } catch (error) {
      result = { ok: false, value: sentenceOf(error) };
    } finally {
      this.#calls -= 1;
    }
    if (signal.aborted) return;
    const { ok, value = null, fault } = result;
    const frame = { type: 'tool_result', id, ok, value } as const;
    if (send(fault === undefined ? frame : { ...frame, fault })) return;
    send({ type: 'tool_result', id, ok: false, value: 'The result is longer than 1 MB.' });
  }
}

type After = (result: HostToolResult) => Promise<HostToolResult>;

const NOT_ANSWERED: AgentReply = { word: 'no', isAnswered: false };
const TOO_MANY =
  'These are too many calls at once. Wait for the results of the others, and call less often.';

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : 'The tool failed.';
}
