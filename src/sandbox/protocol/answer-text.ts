import { type CutText, cutText } from '../../lib/cut-text.ts';

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
