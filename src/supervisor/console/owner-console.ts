import type { GrowingText } from './live-markdown.ts';

/** The owner's input at the terminal. */
export type ConsoleEvents = {
  readonly onLine: (text: string) => void;
  /** Resolves with whole lines that the beginning of a command can become, for Tab. */
  readonly complete?: (typed: string) => Promise<readonly string[]>;
  /** The input is over: its end was reached, or the owner leaves. */
  readonly onEnd: () => void;
};

/** A display for answers. */
export interface Listener {
  /** Shows an answer, in Markdown. Of one that replaces what `grow` has shown, only the rest is printed. */
  print(markdown: string, replaces?: string | null): void;
  /** Shows what an answer has become that is still being written; null where it will not go on. */
  grow(piece: GrowingText | null): void;
  /** Shows a notice, which answers nothing. */
  notice(text: string): void;
  /** Shows the work that the owner waits for; null for none. */
  setActivity(activity: string | null): void;
  /** Called when all lines so far are answered. */
  acknowledged(): void;
}

/** The terminal, or the pipes in its place. */
export interface OwnerConsole extends Listener {
  readonly isInteractive: boolean;
  /** Shows the prompt and reads input from the first call on. */
  open(prompt: string, events: ConsoleEvents): void;
  close(): void;
}

/** Tells whether a line asks to leave, which no assistant needs to hear of. */
export function isLeaving(line: string): boolean {
  return ['/exit', '/quit'].includes(line.trim());
}
