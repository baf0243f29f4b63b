/** A line that the owner typed or piped in. `id` stays the same when the line is handed over again. */
export type ConsoleLine = {
  readonly number: number;
  readonly id: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly typedAt: number;
};

/**
 * The owner's terminal as the terminal channel sees it. Another process owns the real one, so that
 * what is typed while the assistant restarts is kept.
 */
export interface ConsolePort {
  /** Whether ANSI styles are understood; otherwise text goes out as it is. */
  readonly isStyled: boolean;
  /** Number of the last line that an earlier run stored but did not settle; null if there is none. */
  readonly awaiting: number | null;
  /** Resolves when the owner of the terminal has taken the text. */
  print(text: string): Promise<void>;
  setTyping(isTyping: boolean): void;
  /** Asks for input; lines are handed over from here on, in order. */
  open(prompt: string, onLine: (line: ConsoleLine) => void): void;
  close(): void;
  /** The line is stored: it will not be lost any more, and must not be handed over again. */
  stored(number: number): void;
  /** Everything up to this line is answered, and the answers are printed. */
  settled(number: number): void;
}
