import type { ConsoleLine } from '../channels/console-port.ts';

export interface Lines {
  /** Keeps a line until an assistant has stored it. */
  add(text: string): void;
  /** No more lines will come. */
  end(): void;
  /** An assistant wants lines: what is not stored goes to it, also what an earlier one was given. */
  attach(send: (line: ConsoleLine) => void): void;
  detach(): void;
  stored(number: number): void;
  settled(number: number): void;
  /** The last line that was stored and not settled; null when there is none. */
  awaiting(): number | null;
  /** Whether nothing is waiting for its answer, and nothing for being said. */
  isIdle(): boolean;
}

export type LinesOptions = {
  /** Told apart from the numbers of any other run, so that no line is taken for one of those. */
  readonly runId: string;
  readonly now: () => number;
  /** Piped input: a line is said only when the one before is answered. */
  readonly isOneByOne: boolean;
  /** What was said is answered; the next line follows after this. */
  readonly onSettled: () => void;
  /** Something was settled, or the input ended: time to look at `isIdle`. */
  readonly onChange: () => void;
};

/** What was typed or piped in, kept through restarts. */
export function openLines({ runId, now, isOneByOne, onSettled, onChange }: LinesOptions): Lines {
  const unstored: ConsoleLine[] = [];
  let send: ((line: ConsoleLine) => void) | null = null;
  let count = 0;
  let sent = 0;
  let lastStored = 0;
  let lastSettled = 0;

  function pump(): void {
    for (const line of unstored) {
      if (send === null || line.number <= sent) continue;
      if (isOneByOne && lastSettled < line.number - 1) return;
      sent = line.number;
      send(line);
    }
  }

  return {
    add(text) {
      count += 1;
      unstored.push({ number: count, id: `${runId}-${count}`, text, typedAt: now() });
      pump();
    },
    end: onChange,
    attach(to) {
      send = to;
      sent = lastStored;
      pump();
    },
    detach() {
      send = null;
    },
    stored(number) {
      lastStored = Math.max(lastStored, number);
      while (unstored[0] !== undefined && unstored[0].number <= number) unstored.shift();
    },
    settled(number) {
      if (number <= lastSettled) return;
      lastSettled = number;
      onSettled();
      pump();
      onChange();
    },
    awaiting: () => (lastStored > lastSettled ? lastStored : null),
    isIdle: () => lastSettled === count,
  };
}
