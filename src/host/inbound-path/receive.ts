import type { Channel, InboundMessage } from '../../channels/channel.ts';
import type { Group, Store } from '../../store/store.ts';
import { isCommandText } from '../contracts/match-command.ts';
import type { ProjectPort } from '../contracts/ports.ts';
import { plainName } from '../groups/plain-name.ts';
import { freeFolder } from '../groups/registry.ts';
import { ALWAYS } from '../groups/trigger.ts';
import type { FilterEnd, Filtering } from './filtering.ts';
import { mayDecide, type QueueTurnOptions, queueTurn } from './queue-turn.ts';
import { shownMessage, wordsWithNotes } from './shown-message.ts';

type ReceiveOptions = QueueTurnOptions & ProjectPort;
type Source = Pick<Channel, 'name' | 'isOpen'>;

/** A stored message's place: a group, which may have registered itself with it, or a chat that is not heard. */
export type Received = {
  readonly jid: string;
  readonly whose: 'group' | 'stranger' | 'unheard';
  readonly group: Group | null;
  readonly isNewcomer: boolean;
  /** It is on disk, and waits for the inbound filters. */
  readonly isHeld?: boolean;
};

/**
 * Stores a message and the turn it asks for, both or neither. A message that is here already changes nothing.
 *
 * It runs inside the transaction of a group commit, where its own is a savepoint: the message is on disk when
 * that one is, and `onMessage` resolves then.
 *
 * Of an unregistered chat only the name is kept, and who writes there directly; such a stranger is counted.
 */
export function receive(
  options: ReceiveOptions,
  source: Source,
  message: InboundMessage,
  filtering: Pick<Filtering, 'begin'>,
): Received {
  const { store, now } = options;
  return store.transaction(() => {
    const { jid, isDirect, isOwner, sender } = message;
    const name = plainName(message.chatName);
    const person = isDirect && !isOwner ? sender : null;
    store.chats.see({ jid, channel: source.name, name, isDirect, person }, now());
    const known = store.groups.byJid(jid);
    const mayJoin = known === null && mayRegister(store, source, message);
    const group = mayJoin ? registerDirect(options, source, message) : known;
    if (group === null) {
      if (!isDirect || isOwner) return { jid, whose: 'unheard', group, isNewcomer: false };
      store.strangers.count(source.name, sender, now());
      return { jid, whose: 'stranger', group, isNewcomer: false };
    }
    const received = { jid, whose: 'group', group, isNewcomer: known === null } as const;
    // The owner's commands are theirs alone, and must work while a filter does not.
    const isCommand = isOwner && mayDecide(message) && isCommandText(message.text);
    const outcome = isCommand
      ? ({ kind: 'through', text: wordsWithNotes(message), notes: [] } as const)
      : filtering.begin({ channel: source.name, message }, group);
    if (outcome === null) return { ...received, isHeld: true };
    admit(options, group, message, outcome);
    return received;
  });
}

/**
 * Stores a message as the filters have left it, with the turn that it asks for or the reply of a filter, or counts
 * it as dropped.
 * Belongs into a transaction.
 */
export function admit(
  options: ReceiveOptions,
  group: Group,
  message: InboundMessage,
  outcome: FilterEnd,
): void {
  const { store, now } = options;
  const { jid, id } = message;
  if (outcome.kind === 'dropped') {
    if (store.messages.has(jid, id)) return;
    store.droppedMessages.count(outcome.filter, outcome.reason, now());
    return;
  }
  const { text, notes, reply = null } = outcome;
  const whole = [shownMessage(message, text), ...notes].filter((line) => line !== '').join('\n');
  const isOutside = bringsOutside(message);
  const seq = store.messages.add({ ...message, text: whole, isOutside }, now());
  if (seq === null) return;
  store.attachments.add(seq, message.attachments ?? []);
  if (message.isLate) store.lateMessages.count(jid);
  queueTurn(options, { group, message, text, seq, reply });
}

/** Tells whether others wrote what a message holds; a voice message is the sender's own word. */
function bringsOutside({ forwarded, attachments = [] }: InboundMessage): boolean {
  return forwarded !== undefined || attachments.some(({ kind }) => kind !== 'voice');
}

/**
 * Tells whether a direct chat may register itself: its sender is on an allow-list, the channel's own, which
 * let the message through, or where the channel has none the owner's. Never after the owner has taken it
 * out.
 */
function mayRegister(store: Store, { name, isOpen }: Source, message: InboundMessage): boolean {
  const { jid, isDirect, isOwner, sender } = message;
  if (!isDirect || store.chats.isDismissed(jid)) return false;
  // In a chat with another person the owner speaks to them, not to the assistant.
  return isOpen !== true || (!isOwner && store.senders.mayWrite(name, sender));
}

function registerDirect(
  options: ReceiveOptions,
  { name: channel }: Source,
  { jid, chatName, senderName, sender }: InboundMessage,
): Group {
  const { store, now } = options;
  const group: Group = {
    jid,
    folder: freeFolder(options, { channel, jid, name: null }),
    name: plainName(chatName) ?? plainName(senderName) ?? sender,
    ...ALWAYS,
    isMain: false,
  };
  store.groups.register(group, now());
  return group;
}
