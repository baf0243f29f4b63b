/** Longer than any line of a real answer, and than any answer in one piece. */
const MAX_LINE_BYTES = 8_388_608;
/** Far more than the longest answer takes, at some hundred bytes for each token. */
const MAX_ANSWER_BYTES = 67_108_864;
/** Longer than the longest answer of a slow model; a server that only says that it works never ends. */
const MAX_ANSWER_MS = 3_600_000;
const NEWLINE = 10;

/** How a server's lines end no more: too long, begun and never ended, or too many, or for too long. */
export class EndlessLine extends Error {
  override readonly name = 'EndlessLine';
  readonly why: string;

  constructor(why: string) {
    super(why);
    this.why = why;
  }
}

export type LineBounds = {
  /** Takes the next piece of the answer. @throws EndlessLine */
  read(chunk: Buffer): void;
  /** The agent held the answer up: a line that is under way has its whole time again. */
  paused(): void;
};

/**
 * Bounds an answer that passes by, and its lines. A server that sends a byte now and then is never silent, so the time
 * of a line counts from its first byte.
 *
 * @param slowestMs the longest time of one line; null where an answer has no lines
 */
export function boundLines(slowestMs: number | null, now: () => number): LineBounds {
  let [pendingBytes, sizeBytes] = [0, 0];
  let begunAt: number | null = null;
  const startedAt = now();
  return {
    read(chunk) {
      const at = now();
      if (at - startedAt > MAX_ANSWER_MS) throw new EndlessLine('answered for more than an hour');
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_ANSWER_BYTES) throw new EndlessLine('sent more than 64 MB');
      const first = chunk.indexOf(NEWLINE);
      const longest = pendingBytes + (first === -1 ? chunk.length : first);
      if (longest > MAX_LINE_BYTES) throw new EndlessLine('sent a line of more than 8 MB');
      if (slowestMs !== null && begunAt !== null && at - begunAt > slowestMs) {
        const seconds = Math.round(slowestMs / 1000);
        throw new EndlessLine(`began a line and did not end it within ${seconds} s`);
      }
      pendingBytes = first === -1 ? longest : chunk.length - 1 - chunk.lastIndexOf(NEWLINE);
      if (pendingBytes === 0) begunAt = null;
      else if (first !== -1 || begunAt === null) begunAt = at;
    },
    paused() {
      if (begunAt !== null) begunAt = now();
    },
  };
}
