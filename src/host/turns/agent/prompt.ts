import { timeFormat } from '../../../lib/time-format.ts';
import type { StoredMessage } from '../../../store/store.ts';

export type PromptParts = {
  /** The turn's messages, oldest first; the last one asks. */
  readonly messages: readonly StoredMessage[];
  /** The number of the turn's earlier messages that are left out. */
  readonly leftOut: number;
  readonly timeZone: string;
};

/** Returns the agent's prompt: one message of the owner's as it is, unless it is of a named thread, or the conversation since the last turn. */
export function promptOf(parts: PromptParts): string {
  const { messages, leftOut } = parts;
  const [only] = messages;
  if (messages.length === 1 && leftOut === 0 && only?.isOwner && only.threadName === undefined)
    return only.text;
  return conversationOf(parts);
}

/**
 * Returns a conversation, a line each message.
 *
 * Lines that go on are indented, so that no message can pass for another person's.
 */
export function conversationOf({ messages, leftOut, timeZone }: PromptParts): string {
  const clock = timeFormat('en-GB', {
    timeZone,
    dateStyle: 'medium',
    timeStyle: 'short',
  });
  const more = leftOut > 0 ? [`(and ${leftOut} more messages before these)`] : [];
  const lines = messages.map((message) => {
    const name = whoAndWhere(message);
    return `[${clock.format(message.sentAt)}] ${name}: ${message.text.replace(LINE_END, '\n    ')}`;
  });
  return [...more, ...lines].join('\n');
}

/** Returns the sender's name, with the thread where the chat has several: one conversation holds the lines of all. */
function whoAndWhere({ senderName, sender, threadName }: StoredMessage): string {
  const name = oneLine(senderName ?? sender);
  return threadName === undefined ? name : `${name} (${oneLine(threadName).replace(/[()]/g, '')})`;
}

/** All that some model may take for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

function oneLine(name: string): string {
  return name.replace(/[\p{Cc}\u2028\u2029:]+/gu, ' ').trim();
}
