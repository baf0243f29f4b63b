const JID = /^matrix:(![^\s]+)$/;
const USER = /^@[^\s:@]+:[^\s@]+$/;

/** Tells whether a text is the id of a person on Matrix: `@ada:example.org`. */
export function isUserId(text: string): boolean {
  return USER.test(text);
}

/** Tells whether a text is the id of a room: `!abc:example.org`, or without a server in newer rooms. */
export function isRoomId(text: string): boolean {
  return JID.test(`matrix:${text}`);
}

/** Returns the JID of a room: `matrix:<room id>`. */
export function jidOf(roomId: string): string {
  return `matrix:${roomId}`;
}

/** Tells whether a JID names a room on Matrix. */
export function isMatrixJid(jid: string): boolean {
  return JID.test(jid);
}

/** Returns the room id inside a JID, or null when the JID is not of Matrix. */
export function roomIdOf(jid: string): string | null {
  return JID.exec(jid)?.[1] ?? null;
}
