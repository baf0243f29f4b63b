import { z } from 'zod';

const Question = z.object({ command: z.string(), data: z.unknown(), declined: z.string() });

/** A command that waits for the owner's yes: which one, with what, and what a no is told. */
export type Question = z.output<typeof Question>;

/** Reads what the store kept; null when nothing is open, or when an older tree asked something else. */
export function parseQuestion(payload: unknown): Question | null {
  return Question.safeParse(payload).data ?? null;
}

export type Reply = 'yes' | 'no';

/** Whether a text is a plain yes or no. */
export function yesOrNo(text: string): Reply | null {
  const word = text
    .trim()
    .toLowerCase()
    .replace(/[.!]+$/, '');
  if (['yes', 'y', 'ja', 'ok', 'yes please'].includes(word)) return 'yes';
  return ['no', 'n', 'nein', 'no thanks'].includes(word) ? 'no' : null;
}
