import type { AnswerEnd } from '../lib/answer-end.ts';

/** A line that the owner typed or piped in. `id` stays the same when the line is handed over again. */
export type ConsoleLine = {
  readonly number: number;
  readonly id: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly typedAt: number;
};

/** The message, turn or command that a printed text belongs to. */
export type PrintedAbout = {
  /** Ids of the lines that it answers, or tells about. */
  readonly answersTo: readonly string[];
  /** True for progress of a command, which answers nothing yet. */
  readonly isProgress: boolean;
  /** The id of the draft that this text is the end of. */
  readonly replaces?: string;
};

/** An answer that is still being written. */
export type ConsoleDraft = {
  readonly id: string;
  readonly text: string;
  /** The assistant's present activity, in a few words; null for nothing to tell. */
  readonly activity: string | null;
  readonly answersTo: readonly string[];
};

/**
 * The owner's terminal, and the shells that talk to the assistant, as the terminal channel sees them.
 * Another process owns the real ones, so that what is typed while the assistant restarts is kept.
 */
export interface ConsolePort {
  /** Number of the last line that an earlier run stored but did not acknowledge; null if there is none. */
  readonly awaiting: number | null;
  /**
   * Resolves when the owner of the terminal has taken the text. It is shown to those who said the lines
   * with these ids; without such a reader, to all who are connected. Progress is shown apart from answers.
   */
  print(markdown: string, about: PrintedAbout): Promise<void>;
  /** Shows a draft. Resolves when the owner of the terminal has it. */
  draft(draft: ConsoleDraft): Promise<void>;
  /** The draft with this id will not go on. */
  dropDraft(id: string): Promise<void>;
  /** Asks for input; lines are handed over from here on, in order. */
  open(prompt: string, onLine: (line: ConsoleLine) => void): void;
  close(): void;
  /** The line is stored: it will not be lost any more, and must not be handed over again. */
  stored(number: number): void;
  /** Work on the lines with these ids has ended like this, and what there is to say is printed. */
  answered(ids: readonly string[], end: AnswerEnd): void;
  /** Work on the lines with these ids waits for an answer to a question that is printed, or does not any more. */
  asking(ids: readonly string[], isOpen: boolean): void;
  /** Everything up to this line is answered, and the answers are printed. */
  acknowledged(number: number): void;
}
