import { z } from 'zod';
import type { KeptChoices } from '../../store/store.ts';
import type { AskQuestion } from '../contracts/ask.ts';
import { choiceLines } from '../contracts/question.ts';

/** A question as the store keeps it: what is needed to answer it. */
const KeptQuestion = z.object({
  text: z.string(),
  choices: z.array(z.object({ word: z.string(), label: z.string() })),
  what: z.string().nullable(),
  /** The turn that asks. */
  turnId: z.string().nullable().default(null),
});

export type KeptQuestion = Readonly<z.output<typeof KeptQuestion>>;

/** Reads what the store kept; null for what another tree asked. */
export function parseKept(payload: unknown): KeptQuestion | null {
  return KeptQuestion.safeParse(payload).data ?? null;
}

/** The most that a person can be asked to read, in characters. */
const MAX_SHOWN = 20_000;
const WORD = /^[a-z][a-z0-9 _-]{0,39}$/i;

/**
 * Makes a question of what is asked, with the payload in it.
 *
 * @throws Error where it cannot be shown whole, or its choices cannot be told apart
 */
export function keptQuestion(
  { text, choices = [], payload, what }: AskQuestion,
  turnId: string,
): KeptQuestion {
  const words = choices.map(({ word }) => word.toLowerCase());
  const areWords = words.every((word) => WORD.test(word)) && new Set(words).size === words.length;
  if (choices.length === 1 || choices.length > 9 || !areWords) {
    throw new Error('A question has two to nine choices, each with a word of its own, or none.');
  }
  const whole = payload === undefined ? text : `${text}\n\n${shown(payload)}`;
  if (whole.length > MAX_SHOWN) throw new Error('The question is too long to be shown.');
  return { text: whole, choices: [...choices], what: what ?? null, turnId };
}

/** Characters that could let a payload look like another one: they turn text around, or show nothing. */
const MISLEADING = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Writes a value as JSON, in a fence that it cannot close. */
function shown(payload: unknown): string {
  const json = JSON.stringify(payload, null, 2) ?? 'nothing';
  const exact = json.replace(
    MISLEADING,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const longest = Math.max(2, ...(exact.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${exact}\n${fence}`;
}

/** Writes a question with how to answer it: by its number as well, where others are open in the chat. */
export function askedText(
  { text, choices, what }: KeptQuestion,
  { number, isAlone }: { readonly number: number; readonly isAlone: boolean },
): string {
  const allow = what === null ? '' : 'Allow it? ';
  if (choices.length === 0) {
    const how = isAlone ? 'Say yes or no.' : `Say \`${number} yes\` or \`${number} no\`.`;
    return `${text}\n\n${allow}${how}`;
  }
  const how = isAlone
    ? 'Say a number.'
    : `This is question ${number}: say \`${number} 1\` for the first, and so on.`;
  return `${text}\n\n${choiceLines(choices)}\n\n${how}`;
}

const YES_OR_NO = [
  { word: 'yes', label: 'Yes' },
  { word: 'no', label: 'No' },
];

/** Makes the question as it is put where its choices can be pressed. */
export function pressedChoices(id: string, { text, choices, what }: KeptQuestion): KeptChoices {
  const options = choices.length === 0 ? YES_OR_NO : choices;
  return { question: id, text: what === null ? text : `${text}\n\nAllow it?`, options };
}

/** Returns the confirmation for the person who answered. */
export function answeredText({ choices, what }: KeptQuestion, word: string): string {
  const label = choices.find((choice) => choice.word === word)?.label;
  if (label !== undefined) return `Noted: ${label}.`;
  if (what === null) return word === 'yes' ? 'Noted: yes.' : 'Noted: no.';
  return word === 'yes' ? `${what} is allowed, this once.` : `${what} was not allowed.`;
}

/** Returns the notice after a question that was not answered. */
export function declinedText({ choices, what }: KeptQuestion): string {
  if (what !== null) return `${what} was not allowed.`;
  return choices.length === 0
    ? 'What was asked last counts as a no.'
    : 'What was asked last was not answered.';
}
