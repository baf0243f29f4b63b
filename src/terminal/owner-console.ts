/** What the owner does at the terminal. */
export type ConsoleEvents = {
  readonly onLine: (text: string) => void;
  /** The input is over: its end was reached, or the owner leaves. */
  readonly onEnd: () => void;
};

/** Where answers are shown. */
export interface Listener {
  /** An answer, in Markdown. */
  print(markdown: string): void;
  /** Something to know that is no answer. */
  notice(text: string): void;
  /** What is under way that one waits for; null for nothing. */
  setActivity(activity: string | null): void;
  /** What was handed over so far is answered. */
  acknowledged(): void;
}

/** The terminal, or the pipes in its place. */
export interface OwnerConsole extends Listener {
  readonly isInteractive: boolean;
  /** From the first call on, input is read and the prompt is shown. */
  open(prompt: string, events: ConsoleEvents): void;
  close(): void;
}

/** Tells whether a line is the owner's wish to leave, which no assistant needs to hear of. */
export function isLeaving(line: string): boolean {
  return ['/exit', '/quit'].includes(line.trim());
}
