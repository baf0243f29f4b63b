import type { AgentFrame } from '../../src/sandbox/protocol/frames.ts';
import { MAX_FRAME_BYTES } from '../../src/sandbox/protocol/protocol.ts';

/** Far below the longest frame, however much of a delta JSON has to escape. */
const MAX_DELTA_CHARS = 100_000;

/**
 * The answer on its way out: what the model says in all its steps, a blank line between two.
 *
 * Words that come at once go out in two frames, and none once the host has more than it keeps: a host that cannot read a
 * flood of frames ends the agent.
 */
export class StreamedText {
  readonly #turn: string;
  readonly #send: (frame: AgentFrame) => boolean;
  #parts: string[] = [];
  #length = 0;
  #waiting = '';
  #isPausing = false;
  /** The first of the parts that are of this step. */
  #stepFrom = 0;
  #isBetweenSteps = false;

  constructor(turn: string, send: (frame: AgentFrame) => boolean) {
    this.#turn = turn;
    this.#send = send;
  }

  add(text: string): void {
    if (text.trim() === '' && this.#parts.length === this.#stepFrom) return;
    const delta = this.#isBetweenSteps && this.#length > 0 ? `\n\n${text}` : text;
    this.#isBetweenSteps = false;
    // A text longer than a frame is not collected; the host has the deltas, up to the first that it does not keep.
    if (this.#length <= MAX_FRAME_BYTES) {
      this.#parts.push(delta);
      this.#waiting += delta.slice(0, 2 * MAX_FRAME_BYTES);
      this.#sendSoon();
    }
    this.#length += delta.length;
  }

  /** Sends the first words at once, and those that come with them together. */
  #sendSoon(): void {
    if (this.#isPausing) return;
    this.flush();
    this.#isPausing = true;
    setImmediate(() => {
      this.#isPausing = false;
      this.flush();
    });
  }

  /** Sends what waits, so that another frame comes after it. */
  flush(): void {
    const text = this.#waiting;
    this.#waiting = '';
    for (let from = 0; from < text.length; from += MAX_DELTA_CHARS) {
      const delta = text.slice(from, from + MAX_DELTA_CHARS);
      this.#send({ type: 'text', turn: this.#turn, delta });
    }
  }

  /** Drops the text of this step: it was a thought whose opening tag was missing, not part of the answer. */
  forgetStep(): void {
    this.#waiting = '';
    const forgotten = this.#parts.splice(this.#stepFrom);
    this.#length -= forgotten.reduce((sum, { length }) => sum + length, 0);
    this.#isBetweenSteps = this.#stepFrom > 0;
  }

  /** The model's next words are another step's. */
  endStep(): void {
    this.#stepFrom = this.#parts.length;
    this.#isBetweenSteps = true;
  }

  /** True until the model has said something that can be read. */
  get isEmpty(): boolean {
    return !this.#parts.some((part) => part.trim() !== '');
  }

  /** All of it; null where that is longer than a frame. */
  get whole(): string | null {
    return this.#length <= MAX_FRAME_BYTES ? this.#parts.join('') : null;
  }
}
