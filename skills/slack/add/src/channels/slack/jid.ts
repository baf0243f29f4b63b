const JID = /^slack:([CDG][A-Z0-9]{2,})$/;

/** The JID of a conversation: `slack:<channel id>`, for channels, groups and direct messages alike. */
export function jidOf(channelId: string): string {
  return `slack:${channelId}`;
}

/** Tells whether a JID names a conversation on Slack. */
export function isSlackJid(jid: string): boolean {
  return JID.test(jid);
}

/** The channel id inside a JID, or null when the JID is not Slack's. */
export function channelIdOf(jid: string): string | null {
  return JID.exec(jid)?.[1] ?? null;
}

/** Slack's time stamp of a message, by the host's id: a message with several files is several for the host. */
export function stampOf(messageId: string): string {
  return messageId.split('-', 1)[0] ?? messageId;
}

/** One person and the app: Slack's ids of such conversations begin with D. */
export function isDirectChannel(channelId: string): boolean {
  return channelId.startsWith('D');
}
