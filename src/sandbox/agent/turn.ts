import { ActivityWatchdog } from '../../lib/activity-watchdog.ts';
import { cutText } from '../../lib/cut-text.ts';
import { type ModelFailure, oneLine } from '../../model/failure.ts';
import type { Model } from '../../model/model.ts';
import type { PaidCall, PayingTurn } from '../../model/paying-turn.ts';
import type { Admission } from '../../model/tokens.ts';
import { AnswerText, MAX_ANSWER_BYTES } from '../protocol/answer-text.ts';
import type { AgentFrame, HostFrame } from '../protocol/frames.ts';
import type {
  AgentReply,
  HostToolResult,
  TurnEvents,
  TurnOutcome,
  TurnRequest,
} from '../sandbox.ts';
import type { CallLimit } from './call-limit.ts';

export type TurnParts = {
  readonly request: TurnRequest;
  readonly events: TurnEvents;
  /** The names of the host's tools; a call of any other is answered here. */
  readonly toolNames: ReadonlySet<string>;
  /** Counts the calls of this group, over all its turns. */
  readonly callLimit: Pick<CallLimit, 'take'>;
  readonly send: (frame: HostFrame) => boolean;
};

/** Models call a few tools at once; each of these may hold a file, or a place in a queue. */
const MAX_CALLS = 32;
/** An agent that goes on after so many refusals in one turn does not listen, and is stopped. */
const MAX_REFUSED_CALLS = 1_000;

type TurnFrames = Exclude<AgentFrame, { type: 'ready' }>;

/**
 * One turn as the host sees it: frames in, one outcome out.
 *
 * Why a model call failed is taken from the proxy, which saw it happen; the agent's own account of it
 * counts only where the proxy has none.
 */
export class RunningTurn implements PayingTurn {
  readonly outcome: Promise<TurnOutcome>;
  /** Notices a silent agent; time in which it waits for the host does not count. */
  readonly silence = new ActivityWatchdog();
  readonly #parts: TurnParts;
  readonly #over = new AbortController();
  readonly #answer = new AnswerText();
  readonly #resolveOutcome: (outcome: TurnOutcome) => void;
  #modelFailure: ModelFailure | null = null;
  /** Calls of the host's tools that are under way. */
  #calls = 0;
  #refusedCalls = 0;
  #leftBehind = 0;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    const { promise, resolve } = Promise.withResolvers<TurnOutcome>();
    this.outcome = promise;
    this.#resolveOutcome = resolve;
  }

  /** Processes that the turn's commands left running, by the agent's own count. */
  get leftBehind(): number {
    return this.#leftBehind;
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The first end counts, later ones are ignored. */
  end(outcome: TurnOutcome): void {
    this.#resolveOutcome(outcome);
    this.#over.abort();
    this.silence.end();
  }

  /** The agent has it, and takes what is said meanwhile. */
  open(): void {
    const { request, events, send } = this.#parts;
    events.onOpen?.(
      (followUp) =>
        !this.signal.aborted && send({ type: 'message', turn: request.id, ...followUp }),
    );
  }

  get models(): PayingTurn['models'] {
    return this.#parts.request.models;
  }

  readonly admit = async (call: PaidCall, signal: AbortSignal): Promise<Admission> =>
    (await this.#parts.events.onModelCall?.(call, signal)) ?? FREE;

  readonly onPassedOver = (model: Model, failure: ModelFailure): void =>
    this.#parts.events.onModelPassedOver?.(model, failure);

  readonly onModel = (failure: ModelFailure | null): void => {
    this.#modelFailure = failure;
  };

  /** Takes a frame of the agent's. Returns what is wrong with it, or null. */
  accept(frame: TurnFrames): string | null {
    if (frame.turn !== this.#parts.request.id) return 'a message about another turn';
    if (this.signal.aborted) return null;
    this.silence.heard();
    switch (frame.type) {
      case 'alive':
        return null;
      case 'took':
        this.#parts.events.onTook?.(frame.id);
        return null;
      case 'text':
        return this.#addText(frame.delta);
      case 'tool_call':
        return this.#acceptCall(frame);
      case 'permission':
        return this.#acceptQuestion(frame);
      case 'done':
        this.#leftBehind = frame.leftBehind ?? 0;
        this.#answered(frame.text, frame.session);
        return null;
      case 'failed':
        this.#leftBehind = frame.leftBehind ?? 0;
        this.end({
          kind: 'failed',
          ...(this.#modelFailure ?? {
            code: frame.code,
            message: `${oneLine(frame.message)}.`,
          }),
        });
        return null;
    }
  }

  #addText(delta: string): string | null {
    if (!this.#answer.add(delta)) return 'an answer without end';
    if (this.#answer.isWhole) this.#parts.events.onText?.(delta);
    return null;
  }

  #answered(text: string | null, session: string): void {
    const answer = text === null ? this.#answer.cut() : cutText(text, MAX_ANSWER_BYTES);
    this.end({ kind: 'answered', ...answer, session });
  }

  /** Refuses a call beyond the limits before any tool sees it. */
  #acceptCall({ id, name, input }: Extract<AgentFrame, { type: 'tool_call' }>): string | null {
    const isWithinLimits = this.#calls < MAX_CALLS && this.#parts.callLimit.take();
    if (isWithinLimits) {
      void this.#callTool(id, name, input);
      return null;
    }
    this.#refusedCalls += 1;
    if (this.#refusedCalls > MAX_REFUSED_CALLS) return 'a flood of tool calls';
    this.#parts.send({ type: 'tool_result', id, ok: false, value: TOO_MANY });
    return null;
  }

  /** Questions count as calls: a person has to read each of them. */
  #acceptQuestion(frame: Extract<AgentFrame, { type: 'permission' }>): string | null {
    if (this.#calls < MAX_CALLS && this.#parts.callLimit.take()) {
      void this.#ask(frame);
      return null;
    }
    this.#refusedCalls += 1;
    if (this.#refusedCalls > MAX_REFUSED_CALLS) return 'a flood of questions';
    this.#parts.send({ type: 'decision', id: frame.id, ...NOT_ANSWERED });
    return null;
  }

  async #ask(frame: Extract<AgentFrame, { type: 'permission' }>): Promise<void> {
    const { id, text, choices, takesText, payload } = frame;
    const { events, send } = this.#parts;
    let reply: AgentReply = NOT_ANSWERED;
    this.#calls += 1;
    try {
      const asked = events.onAsk?.({ text, choices, ...(takesText ? { takesText } : {}), payload });
      if (asked !== undefined) reply = await this.silence.during(asked);
    } catch {
      // A question that could not be put has no answer.
    } finally {
      this.#calls -= 1;
    }
    if (this.signal.aborted) return;
    const { word, isAnswered, text: said } = reply;
    send({ type: 'decision', id, word, isAnswered, ...(said === undefined ? {} : { text: said }) });
  }

  async #callTool(id: string, name: string, input: unknown): Promise<void> {
    const { events, toolNames, request, send } = this.#parts;
    let result: HostToolResult = { ok: false, value: `There is no tool "${name}".` };
    this.#calls += 1;
    try {
      if (toolNames.has(name)) {
        const call = events.onTool({ folder: request.folder, name, input });
        result = await this.silence.during(call);
      }
    } catch (error) {
      result = { ok: false, value: sentenceOf(error) };
    } finally {
      this.#calls -= 1;
    }
    if (this.signal.aborted) return;
    const { ok, value = null } = result;
    if (send({ type: 'tool_result', id, ok, value })) return;
    send({ type: 'tool_result', id, ok: false, value: 'The result is longer than 1 MB.' });
  }
}

const NOT_ANSWERED: AgentReply = { word: 'no', isAnswered: false };
const TOO_MANY =
  'These are too many calls at once. Wait for the results of the others, and call less often.';
const FREE: Admission = { kind: 'admitted', charge: () => {} };

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : 'The tool failed.';
}
