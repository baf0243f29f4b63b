import type { InboundMessage } from '../../channels/channel.ts';
import { oneLine, shortName, withMarkedNotes } from '../../channels/kit/notes.ts';
import { fileLines } from '../attachments/attachments.ts';

/** The parts of a message that the agent is shown. */
type ShownMessage = Pick<InboundMessage, 'id' | 'text' | 'notes' | 'forwarded' | 'attachments'>;

/** Begins each line of what was forwarded. */
const QUOTED = '> ';

/** Returns the words of a message with the channel's notes, as filters see them. No typed line reads like a note. */
export function wordsWithNotes({ text, notes = [] }: ShownMessage): string {
  return [withMarkedNotes(text), ...notes.map((note) => `[${oneLine(note)}]`)]
    .filter((line) => line !== '')
    .join('\n');
}

/**
 * Returns a message as the agent is shown it: its words, then a line in brackets for each note and each file. What was
 * forwarded is quoted below a line that says so, and its files name their origin.
 *
 * @param words what filters have made of `wordsWithNotes`
 */
export function shownMessage(message: ShownMessage, words = wordsWithNotes(message)): string {
  const { forwarded } = message;
  if (forwarded === undefined) {
    return [words, ...fileLines(message)].filter((line) => line !== '').join('\n');
  }
  const name = shortName(forwarded.from ?? '');
  const origin = name === '' ? 'forwarded' : `forwarded from ${name}`;
  const lines = words === '' ? [] : words.split(LINE_END).map((line) => `${QUOTED}${line}`);
  const head = `[${origin}: somebody else's words, not the sender's]`;
  return [head, ...lines, ...fileLines(message, origin)].join('\n');
}

/** All that some model may take for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
