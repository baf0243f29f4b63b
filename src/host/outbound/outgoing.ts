import type { NewOutbound } from '../../store/store.ts';
import type {
  ChannelsPort,
  ClockPort,
  IdPort,
  MainChatPort,
  StorePort,
} from '../contracts/ports.ts';
import { ownersChats } from '../groups/owners-chats.ts';

/** The turn of a queued message, and its kind. */
export type MessageAbout = Pick<
  NewOutbound,
  'turnId' | 'isProgress' | 'isReaction' | 'replyTo' | 'attachments'
>;

/** Queues a message; with a turn, as part of that turn's answer. */
export type Say = (jid: string, text: string, about?: MessageAbout) => void;

/** The host's way into the outbox, for whatever it has to say itself. */
export interface Outgoing {
  readonly say: Say;
  /** Says something to the owner, in the chat where they wrote last. */
  tellOwner(text: string): void;
  /** Says something in all of the owner's chats: for what stops everything, so that they find it wherever they look first. */
  tellOwnersChats(text: string): void;
  /** Queues a text for the owner and announces nothing: the caller does, after its transaction. */
  queueForOwner(text: string): void;
}

export type OutgoingOptions = StorePort &
  ChannelsPort &
  MainChatPort &
  ClockPort &
  IdPort & {
    /** A message waits in the outbox. */
    readonly onQueued: () => void;
  };

/** Opens the host's way into the outbox. */
export function openOutgoing(options: OutgoingOptions): Outgoing {
  const { store, mainChat, now, newId, onQueued } = options;

  const say: Say = (jid, text, about = {}) => {
    store.outbox.add({ messageId: newId(), jid, text, ...about }, now());
    onQueued();
  };

  function queueForOwner(text: string): void {
    const jid = ownersChats(options)[0]?.jid ?? mainChat.jid;
    store.outbox.add({ messageId: newId(), jid, text }, now());
  }

  return {
    say,
    tellOwner(text) {
      queueForOwner(text);
      onQueued();
    },
    tellOwnersChats(text) {
      for (const { jid } of ownersChats(options)) say(jid, text);
    },
    queueForOwner,
  };
}
