/** What the owner does at the terminal. */
export type ConsoleEvents = {
  readonly onLine: (text: string) => void;
  /** The input is over: its end was reached, or the owner leaves. */
  readonly onEnd: () => void;
};

/** The terminal, or the pipes in its place. */
export interface OwnerConsole {
  readonly isInteractive: boolean;
  readonly isStyled: boolean;
  /** From the first call on, input is read and the prompt is shown. */
  open(prompt: string, events: ConsoleEvents): void;
  print(text: string): void;
  /** Something to know that is no answer. */
  notice(text: string): void;
  /** What the assistant is doing, for the prompt; null for nothing. */
  setActivity(activity: string | null): void;
  /** Everything said so far is answered. */
  settled(): void;
  close(): void;
}
