/** Tells when an assistant does not answer any more: a process can hang and never end. */
export interface LivenessCheck {
  /** Asks from here on, once in each interval. */
  start(): void;
  /** Notes an answer of the assistant. */
  heard(): void;
  stop(): void;
}

export type LivenessOptions = {
  readonly intervalMs: number;
  readonly ask: () => void;
  readonly onLost: () => void;
};

/** More than one: after a machine has slept, the time of a question may be over at once. */
const MAX_UNANSWERED = 3;

/**
 * Asks the assistant again and again, and takes one for hung that leaves three questions in a row
 * unanswered. One that has never answered is of a version that does not know the question.
 */
export function openLivenessCheck({ intervalMs, ask, onLost }: LivenessOptions): LivenessCheck {
  let timer: NodeJS.Timeout | undefined;
  let hasAnswered = false;
  let unanswered = 0;

  function beat(): void {
    if (hasAnswered && unanswered >= MAX_UNANSWERED) {
      onLost();
      return;
    }
    unanswered += 1;
    ask();
    timer = setTimeout(beat, intervalMs);
  }

  return {
    start: beat,
    heard() {
      hasAnswered = true;
      unanswered = 0;
    },
    stop: () => clearTimeout(timer),
  };
}
