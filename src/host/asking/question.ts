import { visible } from '@patchclaw/claw/text';
import { z } from 'zod';
import type { KeptChoices, StoredAsk } from '../../store/store.ts';
import type { AskQuestion, AskReply } from '../contracts/ask.ts';
import type { CommandQuestion } from '../contracts/command.ts';
import type { OpenQuestion } from '../contracts/owner-acts.ts';
import { Choice, Continuation, choiceLines, type Reply } from '../contracts/question.ts';

/** A question as the store keeps it: what is needed to answer it. */
const KeptQuestion = z.object({
  /** Without how to answer it. */
  text: z.string(),
  choices: z.array(Choice),
  what: z.string().nullable().default(null),
  takesText: z.boolean().default(false),
  /** Put while others were open in the chat, so that its answer was to begin with its number. */
  isNumbered: z.boolean().default(false),
  /** The turn that asks. */
  turnId: z.string().nullable().default(null),
  /** The command that its answer goes on with; null where some work waits for the answer. */
  continuation: Continuation.nullable().default(null),
});

export type KeptQuestion = Readonly<z.output<typeof KeptQuestion>>;

/** Reads a stored question; null for one of another tree. */
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
  { text, choices = [], payload, what, takesText = false }: AskQuestion,
  turnId: string,
): KeptQuestion {
  const words = choices.map(({ word }) => word.toLowerCase());
  const areWords = words.every((word) => WORD.test(word)) && new Set(words).size === words.length;
  if (choices.length === 1 || choices.length > 9 || !areWords) {
    throw new Error('A question has two to nine choices, each with a word of its own, or none.');
  }
  if (takesText && (choices.length > 0 || what !== undefined)) {
    throw new Error('A question that takes text has no choices, and a text allows nothing.');
  }
  const whole = payload === undefined ? text : `${text}\n\n${shown(payload)}`;
  if (whole.length > MAX_SHOWN) throw new Error('The question is too long to be shown.');
  return parsed({ text: whole, choices: [...choices], what: what ?? null, takesText, turnId });
}

/** Makes a question of the one that a turn ends with. Its choices may be as many as the command needs. */
export function closingQuestion(
  { text, choices = [], ...continuation }: ClosingQuestion,
  turnId: string,
): KeptQuestion {
  return parsed({ text, choices: [...choices], turnId, continuation });
}

/** A question at the end of a turn, and the command that continues with its answer. */
export type ClosingQuestion = Omit<CommandQuestion, 'kind' | 'command'> & {
  readonly command: string;
  /** Text that runs at a yes as if the owner had typed it, in place of the command's `confirm`. */
  readonly run?: string | null;
};

/** Fills in what was left out, as it is read again later, and writes all that a person reads so that it cannot mislead. */
function parsed(question: z.input<typeof KeptQuestion>): KeptQuestion {
  const { text, choices, what, ...others } = KeptQuestion.parse(question);
  return {
    ...others,
    text: visible(text),
    what: what === null ? null : visible(what),
    choices: choices.map((choice) => ({ ...choice, label: visible(choice.label) })),
  };
}

/**
 * Writes a value in a fence that it cannot close: as JSON, or where it is nothing but one line of text, such as the
 * command of a shell, as that line, which people read sooner.
 */
function shown(payload: unknown): string {
  const line = onlyLine(payload);
  if (line !== null) return fenced(line, '');
  return fenced(visible(JSON.stringify(payload, null, 2) ?? 'nothing'), 'json');
}

function onlyLine(payload: unknown): string | null {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return null;
  const [only, ...others] = Object.values(payload);
  if (others.length > 0 || typeof only !== 'string') return null;
  const isPlain = only !== '' && only === visible(only).trim() && !only.includes('\n');
  return isPlain ? only : null;
}

function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

const YES_OR_NO = [
  { word: 'yes', label: 'Yes' },
  { word: 'no', label: 'No' },
];

/** Writes a question with the ways to answer it: also by its number, if others are open in the chat. */
export function askedText(kept: KeptQuestion, place: Place): string {
  const text = bodyOf(kept);
  const { choices, takesText } = kept;
  if (takesText) return `${text}\n\n${howToTell(place)}`;
  // Labels that say no more than the words need no list.
  const isShort = choices.every(({ word, label }) => label === word);
  if (!isShort) return `${text}\n\n${choiceLines(choices)}\n\n${howToChoose(kept, place)}`;
  const how = howToSay(choices.length === 0 ? YES_OR_NO : choices, place);
  return endsWithQuestion(text) ? `${text} ${how}` : `${text}\n\n${how}`;
}

/** The number of a question in its chat, and whether no other is open there. */
export type Place = { readonly number: number; readonly isAlone: boolean };

function bodyOf({ text, what }: Pick<KeptQuestion, 'text' | 'what'>): string {
  return what === null ? text : `${text}\n\nAllow it?`;
}

/** A quotation ends where it is quoted: our own words begin on a line of their own. */
function endsWithQuestion(text: string): boolean {
  const last = text.split('\n').at(-1) ?? '';
  return last.endsWith('?') && !last.startsWith('>');
}

function howToSay(choices: readonly { readonly word: string }[], { number, isAlone }: Place) {
  const words = choices.map(({ word }) => (isAlone ? word : `\`${number} ${word}\``));
  const or = words.length > 2 ? ', or ' : ' or ';
  return `Say ${words.slice(0, -1).join(', ')}${or}${words.at(-1)}.`;
}

function howToChoose({ continuation }: KeptQuestion, { number, isAlone }: Place): string {
  const isForAll = continuation?.mayBeForAll === true;
  if (isAlone) {
    return isForAll ? 'Say a number; `all 1` takes a side for all that are left.' : 'Say a number.';
  }
  const all = isForAll ? `; \`${number} all 1\` takes a side for all that are left.` : '.';
  return `This is question ${number}: say \`${number} 1\` for the first, and so on${all}`;
}

function howToTell({ number, isAlone }: Place): string {
  return isAlone
    ? 'Your next message here is the answer; `cancel` gives none.'
    : `This is question ${number}: say \`${number}\` and then your answer; \`${number} cancel\` gives none.`;
}

/** Returns the question for a channel with buttons; null if it has nothing to press. */
export function pressedChoices(id: string, kept: KeptQuestion): KeptChoices | null {
  if (kept.takesText) return null;
  const options = kept.choices.length === 0 ? YES_OR_NO : kept.choices;
  return {
    question: id,
    text: bodyOf(kept),
    options: options.map(({ word, label }) => ({ word, label })),
  };
}

/** Returns an open question as a page shows it; none for a question of another tree. */
export function openQuestion(ask: StoredAsk, jid: string): readonly OpenQuestion[] {
  const kept = parseKept(ask.payload);
  if (kept === null) return [];
  const { id, number, sender } = ask;
  const options = pressedChoices(id, kept)?.options ?? [];
  return [{ id, jid, number, text: bodyOf(kept), options, isForOwner: sender === null }];
}

/** Returns the confirmation for the person who answered a question that some work waits for. */
export function answeredText({ choices, what, takesText }: KeptQuestion, { word }: Reply): string {
  if (takesText) return word === 'cancel' ? 'Noted: no answer.' : 'Noted.';
  const label = choices.find((choice) => choice.word === word)?.label;
  if (label !== undefined) return `Noted: ${label}.`;
  if (what === null) return word === 'yes' ? 'Noted: yes.' : 'Noted: no.';
  return word === 'yes' ? `${what} is allowed, this once.` : `${what} was not allowed.`;
}

const TakenReply = z.object({ word: z.string(), text: z.string() });

/** Converts a stored reply into the reply for the work that waits for it. */
export function takenReply(stored: unknown): AskReply {
  const { word, text } = TakenReply.parse(stored);
  return { word, isAnswered: true, ...(word === 'text' && text !== '' ? { text } : {}) };
}

/** Returns the notice after a question that was not answered. */
export function declinedText({ choices, what, takesText, continuation }: KeptQuestion): string {
  if (continuation !== null) return continuation.declined;
  if (what !== null) return `${what} was not allowed.`;
  return choices.length === 0 && !takesText
    ? 'What was asked last counts as a no.'
    : 'What was asked last was not answered.';
}
