/*
 * The lines by which a channel tells of content that is not text. All channels use the same ones, so that an agent reads
 * a place from Telegram as it reads one from Matrix. A note comes without its brackets: the host adds them, and marks a
 * line that a person typed to look like one (`withMarkedNotes`).
 */

import { beginningOf, shortened } from '../../lib/graphemes.ts';

const QUOTE_CHARACTERS = 400;
const NAME_CHARACTERS = 100;
const MOST_ITEMS = 30;

/** The message that another one answers. */
export type Answered = {
  /** Null where the messenger does not say who wrote it. */
  readonly from: string | null;
  readonly words: string;
  /** The part of its words that the sender chose. */
  readonly part?: string | null;
  /** A note of what it holds beside words: `image`, or one made by a function here. */
  readonly content?: string | null;
  /** Its id, where it came with a file that the agent can fetch. */
  readonly fileId?: string | null;
};

/** Returns the note for a reply; null if nothing is known of the message that it answers. */
export function answerNote({ from, words, part, content, fileId }: Answered): string | null {
  const said = quoted(part || words);
  const file = fileId ? `, id ${fileId}` : '';
  const parts = [said, content ? `${oneLine(content)}${file}` : ''].filter((one) => one !== '');
  if (parts.length === 0) return null;
  const who = from === null || from === '' ? '' : ` ${shortName(from)}`;
  return part
    ? `in answer to this part of a message${who === '' ? '' : ` of${who}`}: ${parts.join(', ')}`
    : `in answer to${who === '' ? ' a message' : who}: ${parts.join(', ')}`;
}

/** Returns the note for a message that was changed after it was sent. */
export function correctedNote(words: string, before: string | null = null): string {
  const was = before === null || before === '' ? '' : ` ${quoted(before)}`;
  return `corrected: an earlier message${was} now says ${quoted(words)}`;
}

/** Returns the note for a message that its sender or an admin deleted. */
export function deletedNote(before: string | null = null): string {
  return `deleted: an earlier message${before === null || before === '' ? '' : ` ${quoted(before)}`}`;
}

/** A place on the map. */
export type Place = {
  readonly latitude: number;
  readonly longitude: number;
  readonly name?: string | null | undefined;
  readonly address?: string | null | undefined;
  /** It moves with the sender for a while. */
  readonly isLive?: boolean;
};

/** Returns the note for a place. */
export function placeNote({ latitude, longitude, name, address, isLive }: Place): string {
  const where = listed([name, address]);
  const what = isLive ? 'live location' : 'location';
  return `${what} ${latitude}, ${longitude}${where === '' ? '' : `, ${where}`}`;
}

/** Returns the note for a person's card. */
export function contactNote(name: string | null, addresses: readonly string[]): string {
  return `contact ${listed([name, ...addresses])}`.trimEnd();
}

/** A question with options. */
export type Poll = {
  readonly question: string;
  readonly options: readonly { readonly text: string; readonly votes?: number | null }[];
  readonly isClosed?: boolean;
};

/** Returns the note for a poll: its options, and the number of votes for each if known. */
export function pollNote({ question, options, isClosed }: Poll): string {
  const choices = options.map(({ text, votes }) => {
    const count = votes == null ? '' : ` (${votes === 1 ? '1 vote' : `${votes} votes`})`;
    return `${oneLine(text)}${count}`;
  });
  return `${isClosed ? 'closed poll' : 'poll'} ${quoted(question)}: ${shortList(choices, ' / ')}`;
}

/** Returns the note for a list of things to do. */
export function checklistNote(
  title: string,
  items: readonly { readonly text: string; readonly isDone: boolean }[],
): string {
  const lines = items.map(({ text, isDone }) => `${isDone ? 'done' : 'open'}: ${oneLine(text)}`);
  return `checklist ${quoted(title)}: ${shortList(lines, ' / ')}`;
}

/** An appointment that was shared. */
export type SharedEvent = {
  readonly name: string;
  readonly startsAt?: Date | null;
  readonly endsAt?: Date | null;
  readonly place?: string | null;
  readonly description?: string | null;
  readonly link?: string | null;
  readonly isCancelled?: boolean;
};

/** Returns the note for an event; times are in UTC. */
export function eventNote(event: SharedEvent): string {
  const { name, startsAt, endsAt, place, description, link, isCancelled } = event;
  const times = listed([
    startsAt == null ? null : `from ${minuteOf(startsAt)}`,
    endsAt == null ? null : `until ${minuteOf(endsAt)}`,
  ]).replace(', until', ' until');
  const parts = listed([times, place, description, link]);
  return `${isCancelled ? 'cancelled event' : 'event'} ${quoted(name)}${parts === '' ? '' : `: ${parts}`}`;
}

/** Returns the note for an invitation to a group, with its link where there is one. */
export function inviteNote(to: string, link: string | null = null): string {
  return `invitation to ${listed([quoted(to), link])}`;
}

/** Returns the note for buttons or list entries below a message. */
export function buttonsNote(labels: readonly string[]): string {
  return `buttons: ${shortList(labels.map(oneLine), ' / ')}`;
}

/** Returns the note for a press on a button below a message. */
export function pressedNote(label: string): string {
  return `pressed: ${oneLine(label)}`;
}

/** Returns the note for a sticker. */
export function stickerNote(emoji: string | null | undefined): string {
  return listed(['sticker', emoji]).replace(',', '');
}

/** Returns the note for something that the assistant cannot see, with the known facts about it. */
export function withheldNote(what: string, why: string): string {
  return `cannot be seen here: ${oneLine(what)}, ${oneLine(why)}`;
}

/** Returns the note for an event in a chat: who joined or left, a new title. */
export function happenedNote(what: string): string {
  return `in this chat: ${oneLine(what)}`;
}

/**
 * Returns the note for a kind of content that the channel does not know, so that no message disappears without a
 * line.
 */
export function unknownNote(kind: string): string {
  return `a kind of message that cannot be shown here: ${beginningOf(oneLine(kind), NAME_CHARACTERS)}`;
}

/** Truncates a display name; some messengers allow names of any length. */
export function shortName(name: string): string {
  return oneLine(beginningOf(name, NAME_CHARACTERS));
}

/** Puts a text on one line and takes its brackets out, so that no sender's text can end a note. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\u2028\u2029[\]]+/gu, ' ').trim();
}

function quoted(text: string): string {
  const words = oneLine(text).replaceAll('"', '”');
  if (words === '') return '';
  return `"${shortened(words, QUOTE_CHARACTERS)}"`;
}

function listed(parts: readonly (string | null | undefined)[]): string {
  return parts
    .map((part) => oneLine(part ?? ''))
    .filter((part) => part !== '')
    .join(', ');
}

function shortList(items: readonly string[], between: string): string {
  const rest = items.length - MOST_ITEMS;
  const shown = items.slice(0, MOST_ITEMS).join(between);
  return rest > 0 ? `${shown}${between}and ${rest} more` : shown;
}

function minuteOf(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'an unknown time' : `${date.toISOString().slice(0, 16)}Z`;
}

/** The beginnings of notes: of these functions, of the files that the host lists, and of filters (`name: …`). */
const BEGINNINGS = [
  'a kind of message',
  'asks for a payment',
  'audio',
  'buttons',
  'cancelled event',
  'cannot be seen here',
  'checklist',
  'closed poll',
  'contact',
  'corrected',
  'deleted',
  'document',
  'event',
  'forwarded',
  'image',
  'in answer to',
  'in this chat',
  'invitation',
  'live location',
  'location',
  'poll',
  'order',
  'pressed',
  'product',
  'reacts with',
  'sticker',
  'takes a reaction',
  'video',
  'voice',
] as const;

/** Characters that no one sees, and that must not hide a bracket or a word from `LOOKS_LIKE_NOTE`. */
const UNSEEN = String.raw`[\s\p{Cf}\p{Cc}]*`;
const LOOKS_LIKE_NOTE = new RegExp(
  String.raw`^(${UNSEEN})([[［⟦【]${UNSEEN}(?:${BEGINNINGS.map((words) =>
    words.replaceAll(' ', String.raw`[\s\p{Cf}]+`),
  ).join('|')}|[\p{L}\d_-]{1,40}:\s(?=.*[\]］⟧】]${UNSEEN}$)))`,
  'iu',
);

/**
 * Marks, with a backslash, each line that a person typed and that looks like a note of ours. So the agent knows that
 * the person wrote it. Other brackets, as in code, stay as they are.
 */
export function withMarkedNotes(text: string): string {
  if (!/[[［⟦【]/.test(text)) return text;
  return text
    .split(/(\r\n|[\n\r\v\f\u0085\u2028\u2029])/)
    .map((line) => line.replace(LOOKS_LIKE_NOTE, '$1\\$2'))
    .join('');
}
