import type { SourceMessage } from './imported-items.ts';

/** What was said last in the chat of a folder. */
export type ImportedText = Pick<SourceMessage, 'sender' | 'senderName' | 'text' | 'at'>;

/** So much of a chat is the beginning of the conversation here: enough to know about yesterday, and cheap. */
const MOST_SAID = 40;
const MOST_CHARACTERS = 16_000;
const LONGEST = 2_000;

/** Keeps the last messages of each chat while all of them pass by. */
export function lastSaid(): {
  add(message: SourceMessage): void;
  of(jid: string): readonly ImportedText[];
} {
  const byChat = new Map<string, ImportedText[]>();
  return {
    add({ jid, sender, senderName, text, at }) {
      const said = byChat.get(jid) ?? [];
      byChat.set(jid, said);
      said.push({ sender, senderName, text: text.slice(0, LONGEST), at });
      if (said.length > MOST_SAID * 2) said.splice(0, said.length - MOST_SAID);
    },
    of(jid) {
      const said = (byChat.get(jid) ?? []).slice(-MOST_SAID);
      let characters = 0;
      const from = said.findLastIndex(({ text }) => {
        characters += text.length;
        return characters > MOST_CHARACTERS;
      });
      return said.slice(from + 1);
    },
  };
}

/** Stands for the answer to messages that nobody answered. */
const NO_ANSWER = '(no answer)';

/**
 * Writes the last messages as the lines of an agent's conversation, which its next turn continues. It begins with a
 * person, and people and the assistant take turns, as models require. It ends with the assistant: a question at the
 * end would be asked again, so it is left out.
 */
export function sessionLines(
  said: readonly ImportedText[],
  title: string,
  timeZone: string,
): string {
  const messages: { role: 'user' | 'assistant'; content: string }[] = [];
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  for (const { sender, senderName, text, at } of said) {
    if (text.trim() === '') continue;
    const role = sender === null ? 'assistant' : 'user';
    const content =
      role === 'assistant' ? text : `[${format.format(at)}] ${senderName ?? sender}: ${text}`;
    const last = messages.at(-1);
    if (last?.role === role) last.content += `\n${content}`;
    else if (last !== undefined || role === 'user') messages.push({ role, content });
  }
  if (messages.length === 0) return '';
  const [first] = messages;
  if (first !== undefined) {
    first.content = `(What was said in this chat before it moved here from ${title}.)\n${first.content}`;
  }
  if (messages.at(-1)?.role === 'user') messages.push({ role: 'assistant', content: NO_ANSWER });
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
}
