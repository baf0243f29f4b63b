import type { Group, Store } from '../../store/store.ts';
import type { ChannelsPort, ClockPort, IdPort, StorePort } from '../contracts/ports.ts';
import { ownersChats } from '../groups/owners-chats.ts';

/**
 * A message that is not sent again, as the far end refused it, or twice did not say that it took it; or one that is kept
 * for later.
 */
export type GivenUp = {
  readonly messageId: string;
  readonly jid: string;
  readonly outcome: 'refused' | 'unknown' | 'kept';
  readonly error: string;
};

type GivenUpOptions = StorePort & ChannelsPort & ClockPort & IdPort;

/**
 * Tells the owner, in another of their chats, about messages that are not sent again. A notice of this kind that is
 * itself given up is not reported: two chats that accept nothing would report each other forever.
 */
export function openGivenUpNotices(
  options: GivenUpOptions & { readonly onQueued: () => void },
): (message: GivenUp) => void {
  const { store, now, newId, onQueued } = options;
  const notices = new Set<string>();
  return (message) => {
    const { jid } = message;
    const chat = ownersChats(options).find((own) => own.jid !== jid);
    if (notices.delete(message.messageId) || chat === undefined) return;
    const messageId = newId();
    notices.add(messageId);
    store.outbox.add({ messageId, jid: chat.jid, text: textOf(store, message) }, now());
    onQueued();
  };
}

function textOf(store: Store, { jid, outcome, error }: GivenUp): string {
  const group: Group | null = store.groups.byJid(jid);
  const name = group?.name ?? jid;
  if (outcome === 'kept') {
    return `A message to ${name} waits, and goes out by itself within a day. Others that wait for the same reason are not told of. ${error}`;
  }
  return outcome === 'refused'
    ? `A message to ${name} could not be delivered and was given up: ${error}`
    : `A message to ${name} was sent twice, and perhaps did not arrive; it is not sent again: ${error}`;
}
