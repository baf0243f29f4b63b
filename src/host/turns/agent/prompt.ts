import { timeFormat } from '../../../lib/time-format.ts';
import type { Store, StoredMessage } from '../../../store/store.ts';

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
  const shared = sharedNames(messages);
  const lines = messages.map((message) => {
    const name = whoAndWhere(message, shared);
    return `[${clock.format(message.sentAt)}] ${name}: ${message.text.replace(LINE_END, '\n    ')}`;
  });
  return [...more, ...lines].join('\n');
}

/** Returns the display names that several people of these messages have. */
function sharedNames(messages: readonly StoredMessage[]): ReadonlySet<string> {
  const senders = new Map<string, string>();
  const shared = new Set<string>();
  for (const { senderName, sender } of messages) {
    const name = comparable(senderName ?? sender);
    if ((senders.get(name) ?? sender) !== sender) shared.add(name);
    senders.set(name, sender);
  }
  return shared;
}

function comparable(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/[\p{C}\p{Z}]+/gu, '')
    .toLowerCase();
}

/**
 * Returns the sender's name, with the thread where the chat has several: one conversation holds the lines of all. People
 * with the same name are told apart by their address, and the owner is named as such.
 */
function whoAndWhere(
  { senderName, sender, isOwner, threadName }: StoredMessage,
  shared: ReadonlySet<string>,
): string {
  const shownName = oneLine(senderName ?? sender);
  const who = isOwner ? 'your owner' : `not your owner, ${oneLine(sender)}`;
  const isShared = shared.has(comparable(senderName ?? sender));
  const name = isShared ? `${shownName.replace(/[[\]]/g, '')} [${who}]` : shownName;
  return threadName === undefined ? name : `${name} (${oneLine(threadName).replace(/[()]/g, '')})`;
}

/** All that some model may take for the end of a line. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

function oneLine(name: string): string {
  return name.replace(/[\p{Cc}\u2028\u2029:]+/gu, ' ').trim();
}

type MessageSpan = Parameters<Store['messages']['countBetween']>[0];

/** Returns the messages between two cursors, as a prompt shows them. */
export function turnMessages(store: Store, range: MessageSpan, timeZone: string): PromptParts {
  const messages = store.messages.between(range, store.messagesShown);
  const leftOut = store.messages.countBetween(range) - messages.length;
  return { messages, leftOut, timeZone };
}
