import type { DataMessage, Envelope } from './envelope.ts';
import { addressIn, directJid, groupJid } from './jid.ts';
import type { SignalSettings } from './settings.ts';

/** A person, by what Signal tells of them: those who hide their number have only a UUID. */
export type Person = {
  readonly number?: string | null | undefined;
  readonly uuid?: string | null | undefined;
};

/** Something that was said, with the place and the person. */
export type Spoken = {
  readonly jid: string;
  readonly chatName: string | null;
  readonly isDirect: boolean;
  readonly author: Person;
  readonly authorName: string | null;
  readonly data: DataMessage;
  /** The time of the message that it corrects. */
  readonly corrects: number | null;
};

/** The assistant's account. Its UUID is learnt from signal-cli. */
export type Me = { readonly account: string; uuid: string | null };

/** Returns the one word for a person: their UUID, which stays when their number changes. */
export function idOf({ uuid, number }: Person): string | null {
  return addressIn(uuid ?? '') ?? addressIn(number ?? '');
}

/** Tells whether this is the assistant's own account. */
export function isMe(me: Me, { uuid, number }: Person): boolean {
  const isOwnUuid = me.uuid !== null && uuid?.toLowerCase() === me.uuid;
  return isOwnUuid || number === me.account || uuid?.toLowerCase() === me.account;
}

/** Tells whether the owner is this person. */
export function isOwner({ owner }: Pick<SignalSettings, 'owner'>, person: Person): boolean {
  return owner !== null && (owner === person.number || owner === person.uuid?.toLowerCase());
}

/**
 * Finds what was said in an envelope: to the assistant, or, where its account is the owner's own, by the owner on
 * another device, in a group or as a note to self. Null for receipts, typing, stories, calls, and what the owner writes
 * to other people.
 */
export function spokenIn(envelope: Envelope, me: Me): Spoken | null {
  const { sourceNumber: number, sourceUuid: uuid, sourceName, syncMessage } = envelope;
  const author = { number, uuid };
  const sent = syncMessage?.sentMessage;
  if (sent != null) {
    const to = { number: sent.destinationNumber, uuid: sent.destinationUuid };
    const edit = sent.editMessage;
    const data = edit?.dataMessage ?? { ...sent, timestamp: sent.timestamp ?? envelope.timestamp };
    const isNote = data.groupInfo == null && isMe(me, to);
    if (!isNote && data.groupInfo == null) return null;
    const self = { number: me.account, uuid: uuid ?? me.uuid };
    const corrects = edit?.targetSentTimestamp ?? null;
    const place = isNote
      ? { jid: directJid(me.account), chatName: 'Note to Self', isDirect: true }
      : placeOf(data, self, null);
    if (place === null) return null;
    return { ...place, author: self, authorName: sourceName ?? null, data, corrects };
  }
  const data = envelope.editMessage?.dataMessage ?? envelope.dataMessage;
  if (data == null || data.storyContext != null || isMe(me, author)) return null;
  const corrects = envelope.editMessage?.targetSentTimestamp ?? null;
  const place = placeOf(data, author, sourceName ?? null);
  return place && { ...place, author, authorName: sourceName ?? null, data, corrects };
}

function placeOf(
  { groupInfo }: DataMessage,
  author: Person,
  name: string | null,
): Pick<Spoken, 'jid' | 'chatName' | 'isDirect'> | null {
  if (groupInfo != null) {
    const chatName = groupInfo.groupName ?? null;
    return { jid: groupJid(groupInfo.groupId), chatName, isDirect: false };
  }
  const id = idOf(author);
  return id === null ? null : { jid: directJid(id), chatName: name, isDirect: true };
}
