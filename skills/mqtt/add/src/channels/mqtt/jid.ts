import { isChatId } from './topics.ts';

const PREFIX = 'mqtt:';

/** The JID of a chat: `mqtt:<chat id>`. */
export function jidOf(chat: string): string {
  return `${PREFIX}${chat}`;
}

/** The chat id inside a JID, or null where the JID is not of this channel. */
export function chatIn(jid: string): string | null {
  if (!jid.startsWith(PREFIX)) return null;
  const chat = jid.slice(PREFIX.length);
  return isChatId(chat) ? chat : null;
}
