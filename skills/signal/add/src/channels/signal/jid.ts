const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NUMBER = /^\+[1-9]\d{6,14}$/;
const JID = /^signal:(?:group\.([\w-]{16,100})|(\S{7,40}))$/;

/** The receiver of a message, as signal-cli's commands name it. */
export type Receiver =
  | { readonly kind: 'person'; readonly address: string }
  | { readonly kind: 'group'; readonly id: string };

/** Reads a phone number or a UUID as Signal writes it; null for anything else. */
export function addressIn(typed: string): string | null {
  if (UUID.test(typed)) return typed.toLowerCase();
  return NUMBER.test(typed) ? typed : null;
}

/** Returns the JID of the chat with a person. */
export function directJid(address: string): string {
  return `signal:${address}`;
}

/** Returns the JID of a group. Its id is base64, which may hold slashes. */
export function groupJid(groupId: string): string {
  return `signal:group.${Buffer.from(groupId, 'base64').toString('base64url')}`;
}

/** Reads a JID; null for one that is not Signal's. */
export function receiverIn(jid: string): Receiver | null {
  const [, group, person] = JID.exec(jid) ?? [];
  if (group !== undefined) {
    return { kind: 'group', id: Buffer.from(group, 'base64url').toString('base64') };
  }
  const address = person === undefined ? null : addressIn(person);
  return address === null ? null : { kind: 'person', address };
}

/** Makes the id of a message: Signal knows each by its time and its author. */
export function messageId(timestamp: number, author: string): string {
  return `${timestamp}-${author}`;
}

/** Reads the id of a message back; null for one of another kind. */
export function messageIn(
  id: string,
): { readonly timestamp: number; readonly author: string } | null {
  const [, timestamp, author] = /^(\d{1,16})-([^/]+)(?:\/\d+)?$/.exec(id) ?? [];
  return timestamp === undefined || author === undefined
    ? null
    : { timestamp: Number(timestamp), author };
}
