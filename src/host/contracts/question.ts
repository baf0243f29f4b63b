import { z } from 'zod';

export const Choice = z.object({
  word: z.string(),
  label: z.string(),
  takesText: z.boolean().default(false),
  /** Text that runs as if the owner had typed it; null runs nothing. Left out, the command's `confirm` does. */
  run: z.string().nullish(),
});

/** The command that continues with the answer to a question. */
export const Continuation = z.object({
  command: z.string(),
  data: z.unknown(),
  /** Told after a no to a question without choices, and after other talk. */
  declined: z.string(),
  mayBeForAll: z.boolean().default(false),
  /** Text that runs at a yes as if the owner had typed it, in place of the command's `confirm`. */
  run: z.string().nullable().default(null),
});
export type Continuation = Readonly<z.output<typeof Continuation>>;

const Question = Continuation.extend({
  /** Without how to answer it. */
  text: z.string().default(''),
  /** None: it is answered with yes or no. */
  choices: z.array(Choice).default([]),
});

/** One way to answer a question: its number says it, and so does its word. */
export type Choice = Readonly<z.input<typeof Choice>>;

/** The question that a command ended with, as the turn of its answer keeps it. */
export type Question = z.output<typeof Question>;

/** Reads what a turn kept; null if an older tree asked something else. */
export function parseQuestion(payload: unknown): Question | null {
  return Question.safeParse(payload).data ?? null;
}

/** The parts of a question by which an answer is read. */
type Answerable = {
  readonly choices: readonly Choice[];
  readonly mayBeForAll?: boolean;
  readonly takesText?: boolean;
};

/**
 * An answer: a choice's word; `yes` or `no` if there are no choices; a number that is too high; or, for a question
 * that takes text, `text` or `cancel`.
 */
export type Reply = {
  readonly word: string;
  /** The text of an answer in own words, or the one after the word of a choice that takes it; empty else. */
  readonly text: string;
  /** Said with `all`: for this question and those that would follow. */
  readonly isForAll: boolean;
};

/** Reads a text as an answer, which may be a number that no choice has; null for other talk. */
export function replyTo(question: Answerable, text: string): Reply | null {
  if (question.takesText) return ownWords(text.trim());
  const all = question.mayBeForAll ? /^all\s+/i.exec(text.trim()) : null;
  const said = text.trim().slice(all?.[0].length ?? 0);
  const isForAll = all !== null;
  // A run of them is looked at from its beginning alone: from each of them, a long one would take its square.
  const plain = said
    .toLowerCase()
    .replace(SHADES, '')
    .replace(/(?<![.!])[.!]+$/, '');
  const answer = YES.includes(plain) ? 'yes' : NO.includes(plain) ? 'no' : plain;
  if (question.choices.length === 0) {
    const isReply = answer === 'yes' || answer === 'no';
    return isReply ? { word: answer, text: '', isForAll } : null;
  }
  const isNumber = /^\d{1,2}$/.test(plain);
  const numbered = isNumber ? question.choices[Number(plain) - 1] : undefined;
  const found = numbered ?? question.choices.find(({ word }) => word.toLowerCase() === answer);
  if (found !== undefined) return { word: found.word, text: '', isForAll };
  if (isNumber) return { word: plain, text: '', isForAll };
  return withText(question, said, isForAll);
}

function ownWords(text: string): Reply | null {
  if (text === '') return null;
  const isCancelled = /^cancel[.!]*$/i.test(text);
  return { word: isCancelled ? 'cancel' : 'text', text: isCancelled ? '' : text, isForAll: false };
}

/** Tells whether the answer is one of the choices, and not a number beside them. */
export function isAmong({ choices }: Answerable, { word }: Reply): boolean {
  return choices.length === 0 || choices.some((choice) => choice.word === word);
}

/** Returns the choices as the owner reads them. */
export function choiceLines(choices: readonly Choice[]): string {
  return choices.map(({ label }, at) => `${at + 1}. ${label}`).join('\n');
}

const YES = ['yes', 'y', 'ja', 'ok', 'yes please', '👍', '✅'];
const NO = ['no', 'n', 'nein', 'no thanks', '👎'];
/** A sign that asks for a colourful picture, and those for the tone of the skin. */
const SHADES = /\ufe0f|[\u{1f3fb}-\u{1f3ff}]/gu;

function withText({ choices }: Answerable, said: string, isForAll: boolean): Reply | null {
  const [, first = '', text = ''] = /^(\S+)\s+(\S[\s\S]*)$/.exec(said) ?? [];
  const found = choices.find(
    ({ word, takesText }, at) =>
      takesText && (first.toLowerCase() === word || first === String(at + 1)),
  );
  return found === undefined ? null : { word: found.word, text, isForAll };
}
