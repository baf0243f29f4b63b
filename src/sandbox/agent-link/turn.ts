import { ActivityWatchdog } from '../../lib/activity-watchdog.ts';
import { type CutText, cutText } from '../../lib/cut-text.ts';
import { type ModelFailure, oneLine } from '../../model/failure.ts';
import type { CutPrompt, PaidCall, PayingTurn } from '../../model/metering/paying-turn.ts';
import type { Model } from '../../model/model.ts';
import type { Admission } from '../../model/tokens.ts';
import type { AgentFrame } from '../protocol/frames.ts';
import type { TurnEvents, TurnOutcome, TurnRequest } from '../sandbox.ts';
import { TurnCalls, type TurnCallsOptions } from './turn-calls.ts';

export type TurnParts = Pick<TurnCallsOptions, 'toolNames' | 'callLimit' | 'send'> & {
  readonly request: TurnRequest;
  readonly events: TurnEvents;
};

type TurnFrames = Exclude<AgentFrame, { type: 'ready' }>;

/** The longest answer that is kept, in bytes of UTF-8. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** The most that one turn may send in all; an agent that goes on after it does not work as it should. */
const MAX_STREAM_BYTES = 16 * MAX_ANSWER_BYTES;

/** Collects an answer as it streams in, and no more of it than is kept. */
export class AnswerText {
  #text = '';
  #sizeBytes = 0;

  /** False when so much came that no answer can be meant by it. */
  add(delta: string): boolean {
    if (this.#sizeBytes <= MAX_ANSWER_BYTES) this.#text += delta;
    this.#sizeBytes += Buffer.byteLength(delta);
    return this.#sizeBytes <= MAX_STREAM_BYTES;
  }

  /** True while all text that was added is kept. */
  get isWhole(): boolean {
    return this.#sizeBytes <= MAX_ANSWER_BYTES;
  }

  cut(): CutText {
    return cutText(this.#text, MAX_ANSWER_BYTES);
  }
}

/**
 * One turn as the host sees it: frames in, one outcome out.
 *
 * The proxy saw why a model call failed, so its reason is used; the agent's own account counts only if the proxy has
 * none.
 */
export class AgentTurn implements PayingTurn {
  readonly outcome: Promise<TurnOutcome>;
  /** Notices a silent agent; time in which it waits for the host does not count. */
  readonly silence = new ActivityWatchdog();
  readonly #parts: TurnParts;
  readonly #over = new AbortController();
  readonly #answer = new AnswerText();
  readonly #calls: TurnCalls;
  readonly #resolveOutcome: (outcome: TurnOutcome) => void;
  #modelFailure: ModelFailure | null = null;
  #leftBehind = 0;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    const { promise, resolve } = Promise.withResolvers<TurnOutcome>();
    this.outcome = promise;
    this.#resolveOutcome = resolve;
    const { request, events, toolNames, callLimit, send } = parts;
    this.#calls = new TurnCalls({
      folder: request.folder,
      events,
      toolNames,
      callLimit,
      send,
      silence: this.silence,
      signal: this.signal,
    });
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
    events.onReady?.(({ pictures = [], ...followUp }) => {
      if (this.signal.aborted) return false;
      return send({ type: 'message', turn: request.id, ...followUp, pictures: [...pictures] });
    });
  }

  get models(): PayingTurn['models'] {
    return this.#parts.request.models;
  }

  get sideModels(): PayingTurn['sideModels'] {
    return this.#parts.request.sideModels;
  }

  readonly admit = async (call: PaidCall, signal: AbortSignal): Promise<Admission> =>
    (await this.#parts.events.onModelCall?.(call, signal)) ?? FREE;

  readonly onPassedOver = (model: Model, failure: ModelFailure): void =>
    this.#parts.events.onModelPassedOver?.(model, failure);

  readonly onPromptCut = (model: Model, cut: CutPrompt): void =>
    this.#parts.events.onPromptCut?.(model, cut);

  readonly onModel = (failure: ModelFailure | null, model: Model): void => {
    this.#modelFailure = failure;
    if (failure === null) this.#parts.events.onModelAnswer?.(model);
  };

  /** Takes a frame of the agent's. Returns what is wrong with it, or null. */
  accept(frame: TurnFrames): string | null {
    if (frame.turn !== this.#parts.request.id) return 'a message about another turn';
    if (this.signal.aborted) return null;
    this.silence.heard();
    switch (frame.type) {
      case 'alive':
        return null;
      case 'tool_began':
        this.#parts.events.onOwnToolRun?.({
          kind: 'began',
          id: frame.id,
          name: frame.name,
          doing: frame.doing,
          input: frame.input,
          isRepeatable: frame.isRepeatable,
          isOutside: frame.isOutside,
        });
        // Only now is it on record, and may begin.
        if (frame.isRepeatable !== true) {
          this.#parts.send({ type: 'tool_result', id: frame.id, ok: true, value: null });
        }
        return null;
      case 'tool_ended':
        this.#parts.events.onOwnToolRun?.({
          kind: 'ended',
          id: frame.id,
          error: frame.ok ? null : (frame.error ?? 'failed'),
          result: frame.result,
        });
        return null;
      case 'took':
        this.#parts.events.onAccepted?.(frame.id);
        return null;
      case 'text':
        return this.#addText(frame.delta);
      case 'tool_call':
        return this.#calls.takeCall(frame);
      case 'tool_check':
        return this.#calls.takeCheck(frame);
      case 'tool_ran':
        return this.#calls.takeResult(frame);
      case 'permission':
        return this.#calls.takeQuestion(frame);
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
}

const FREE: Admission = { kind: 'admitted', charge: () => {} };
