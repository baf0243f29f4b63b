import { shortened } from '../../lib/graphemes.ts';
import { timeFormat } from '../../lib/time-format.ts';
import { printable } from '../../supervisor/console/printable.ts';
import { fittedTable } from '../trace/fitted-table.ts';
import type { Entry } from './conversations.ts';

/** A conversation for programs; times are of ISO 8601. */
export type ConversationFacts = {
  readonly id: string;
  readonly folder: string;
  /** The name of the folder's chat; null where none is registered. */
  readonly chat: string | null;
  /** True if the chat's next message goes on with it. */
  readonly goesOn: boolean;
  readonly beganAt: string;
  readonly lastAt: string;
  readonly sizeBytes: number;
  /** The number of messages by people, including tasks; null if the file is too long to read. */
  readonly questions: number | null;
  readonly firstQuestion: string | null;
};

const ID_LENGTH = 8;
const SHOWN_RESULT = 300;

/** Returns conversations as a table, the newest first. */
export function listLines(
  conversations: readonly ConversationFacts[],
  { more, columns }: { readonly more: number; readonly columns: number | null },
): readonly string[] {
  if (conversations.length === 0) return ['There is no conversation yet.'];
  const head = ['session', 'chat', 'began', 'last', 'questions', '', ''];
  const rows = conversations.map((one) => [
    one.id.slice(0, ID_LENGTH),
    cut(one.chat ?? `groups/${one.folder}`, 20),
    localTime(one.beganAt),
    localTime(one.lastAt),
    one.questions === null ? '?' : `${one.questions}`,
    one.goesOn ? 'goes on' : '',
    cut(one.firstQuestion ?? '', 60),
  ]);
  const table = { head, rows, sides: 'llllrll', named: 'chat', leaving: ['began', 'questions'] };
  return [
    ...fittedTable(table, columns),
    ...(more === 0 ? [] : [`(and ${more} older: --last ${conversations.length + more})`]),
    '',
    '`npx claw sessions show <session>` shows what was said; `resume` goes on with one, `delete` deletes one.',
  ];
}

/** Returns what was said in a conversation. */
export function conversationLines(
  facts: ConversationFacts,
  entries: readonly Entry[],
  assistantName: string,
): readonly string[] {
  const chat = cut(facts.chat ?? `groups/${facts.folder}`, 80);
  const state = facts.goesOn ? 'The next message goes on with it.' : 'It has ended.';
  return [
    `Session ${facts.id} in ${chat}`,
    `${localTime(facts.beganAt)} to ${localTime(facts.lastAt)}: ${questionsText(facts)}. ${state}`,
    ...entries.flatMap((entry) => ['', ...entryLines(entry, assistantName)]),
  ];
}

/** Returns the size of a conversation in words. */
export function questionsText({ questions }: Pick<ConversationFacts, 'questions'>): string {
  if (questions === null) return 'too long to read';
  return questions === 1 ? '1 question' : `${questions} questions`;
}

function entryLines({ role, text, tools }: Entry, assistantName: string): readonly string[] {
  if (role === 'tool') return [`  ${cut(text, SHOWN_RESULT)}`];
  const who = { user: 'Question', assistant: assistantName, summary: 'Summary of what was before' };
  const [first = '', ...further] = printable(text).split('\n');
  const called =
    tools.length === 0 ? [] : [`  calls ${tools.map((one) => cut(one, 80)).join(', ')}`];
  if (text === '') return [`${who[role]}:`, ...called];
  // Further lines are indented, so that no message can pass for another.
  return [`${who[role]}: ${first}`, ...further.map((line) => `  ${line}`), ...called];
}

/** Returns one line of a text of other people's, and no more of it than fits. */
function cut(text: string, length: number): string {
  return shortened(printable(text).replace(/\s+/g, ' ').trim(), length);
}

/** Returns a moment of ISO 8601 as the clock of this machine shows it. */
export function localTime(iso: string): string {
  const format = timeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
  return format.format(new Date(iso));
}
