const JID = /^telegram:(-?\d{1,16})$/;

/** The JID of a chat: `telegram:<chat id>`, where ids of groups are negative. */
export function jidOf(chatId: number): string {
  return `telegram:${chatId}`;
}

/** Tells whether a JID names a chat on Telegram. */
export function isTelegramJid(jid: string): boolean {
  return JID.test(jid);
}

/** The chat id inside a JID, or null when the JID is not Telegram's. */
export function chatIdOf(jid: string): number | null {
  const id = JID.exec(jid)?.[1];
  return id === undefined ? null : Number(id);
}
