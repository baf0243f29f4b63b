import type { Entry } from '../command.ts';

/** What a person said at once, or an answer: its words, and the entries that each brought some of its files. */
export type Message = {
  /** The entry with the words, or the last one where there are none. */
  readonly words: Entry;
  readonly parts: readonly Entry[];
};

/** The parts of an album reach the assistant within seconds; a slow line takes longer. */
const TOGETHER_MS = 60_000;

/** The line by which an agent asks for a file. The page shows the file itself. */
const FILE_LINE = /\n?^\[(?:image|video|voice|audio|document|sticker)[^\]\n]*, id [^\]\n]*\]$/gm;

/** Returns the text of an entry without the lines that stand for its files. */
export function withoutFileLines(text: string): string {
  return text.replace(FILE_LINE, '');
}

/**
 * Puts together the entries that one message has become: a channel hands over each file as a message of its own, with the
 * words at the first or the last of them.
 */
export function asMessages(entries: readonly Entry[]): readonly Message[] {
  const messages: Message[] = [];
  for (const entry of entries) {
    const last = messages.at(-1);
    if (last !== undefined && isOfOne(last, entry)) {
      const words = hasWords(last.words) ? last.words : entry;
      messages[messages.length - 1] = { words, parts: [...last.parts, entry] };
    } else messages.push({ words: entry, parts: [entry] });
  }
  return messages;
}

function isOfOne({ words, parts }: Message, entry: Entry): boolean {
  const last = parts.at(-1);
  return (
    last !== undefined &&
    [last, entry].every(({ kind, files }) => kind === 'message' && files.length > 0) &&
    last.sender === entry.sender &&
    last.isOwner === entry.isOwner &&
    Math.abs(entry.at - last.at) <= TOGETHER_MS &&
    !(hasWords(words) && hasWords(entry))
  );
}

function hasWords({ text }: Entry): boolean {
  return withoutFileLines(text).trim() !== '';
}
