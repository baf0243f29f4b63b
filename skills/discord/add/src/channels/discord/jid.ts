const JID = /^discord:(\d{17,20})$/;

/** Tells whether a text is an id of Discord's: a number of 17 to 20 digits. */
export function isSnowflake(text: string): boolean {
  return /^\d{17,20}$/.test(text);
}

/** Returns the JID of a chat: `discord:<channel id>`, of direct chats and of channels of servers alike. */
export function jidOf(channelId: string): string {
  return `discord:${channelId}`;
}

/** Tells whether a JID names a chat on Discord. */
export function isDiscordJid(jid: string): boolean {
  return JID.test(jid);
}

/** Returns the channel id inside a JID, or null when the JID is not Discord's. */
export function channelIdOf(jid: string): string | null {
  return JID.exec(jid)?.[1] ?? null;
}

/** The place of a message: a message in a thread has the channel id of the thread. */
export type FarMessage = { readonly channelId: string; readonly messageId: string };

/** Writes the place of a message as one word, under which it is remembered. */
export function farIdOf({ channelId, messageId }: FarMessage): string {
  return `${channelId}/${messageId}`;
}

/** Reads the place of a message back from that word. */
export function farMessageIn(farId: string): FarMessage {
  const [channelId = '', messageId = ''] = farId.split('/');
  return { channelId, messageId };
}
