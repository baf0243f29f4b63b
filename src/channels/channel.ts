import type { z } from 'zod';
import type { Route } from '../http/route.ts';
import type { AnswerEnd } from '../lib/answer-end.ts';
import {
  type Contribution,
  type ContributionDefinition,
  contributionOf,
} from '../lib/contribution.ts';
import type { OpenDatabase } from '../lib/own-database.ts';
import type { ConsolePort } from './console-port.ts';
import type {
  Choice,
  ChoiceOutcome,
  FetchedAttachment,
  InboundMessage,
  OutboundDraft,
  OutboundMessage,
  Reaction,
  ReactionOutcome,
} from './message.ts';

export type {
  Attachment,
  Choice,
  ChoiceOutcome,
  FetchedAttachment,
  InboundMessage,
  Origin,
  OutboundChoices,
  OutboundDraft,
  OutboundFile,
  OutboundMessage,
  Reaction,
  ReactionOutcome,
  RepliedTo,
} from './message.ts';

/** A chat that exists on the channel. Stored as a name for the owner to pick from, nothing more. */
export type KnownChat = {
  readonly jid: string;
  readonly name: string | null;
  readonly isDirect: boolean;
  /**
   * The owner's own chat here, in which only they write: it becomes main beside the terminal. Said
   * before its first message, and for one chat of a channel at a time.
   */
  readonly isOwners?: boolean;
};

/** A person on a channel, who need not have written yet. */
export type Person = {
  /** The `sender` of their messages. */
  readonly sender: string;
  /** The address of their own chat with the assistant; null where it does not follow from theirs. */
  readonly chat: string | null;
  /**
   * The text has another usual meaning, as digits that can be an id or a phone number: it means this person only if they
   * have written. Otherwise the owner is told what to type, by `missingIn`.
   */
  readonly isGuess?: true;
};

/** Abilities of a channel beside sending text. The host sends nothing that the channel has not named here. */
export type ChannelCapabilities = {
  /** It sends files up to this size. Otherwise the text says where each file is. */
  readonly attachments?: { readonly maxBytes: number };
  /** It shows which message is answered. Otherwise the answer is sent without that. */
  readonly replyTo?: true;
  /** It sends into the thread that the question came from. Otherwise the chat has no threads. */
  readonly thread?: true;
  /** It shows choices to press, and tells `onChoice`. Otherwise they are numbers in the text. */
  readonly choices?: {
    readonly most: number;
    /** Characters of a label; any number by default. Longer ones are in the text, and are shown by number and word. */
    readonly longest?: number;
    /** The text numbers them as well, because not every app of the channel shows them. */
    readonly isBesideText?: true;
  };
  /** It puts an emoji on a message. Otherwise the emoji is a message. */
  readonly reactions?: true;
  /** It says answers aloud: it is told which messages are an agent's. */
  readonly speech?: true;
  /** It changes the text of what it sent. Otherwise each line of progress is a message. */
  readonly edits?: true;
  /**
   * It shows an answer while it is written, by `draft`. Otherwise the chat shows that the assistant is typing, and
   * after a while one message says what it does.
   */
  readonly drafts?: {
    /** The least time from one step to the next in a chat: a second, where each is an edit at the far end. */
    readonly everyMs: number;
    /** The same in groups, where a far end allows less. */
    readonly everyMsInGroup?: number;
    /** A draft is shown below whatever comes meanwhile. Otherwise it then gives way to one further down. */
    readonly staysLast?: true;
  };
};

export type ChannelStatus = {
  readonly state: 'stopped' | 'unpaired' | 'connecting' | 'connected' | 'refused' | 'failed';
  /** One line for the owner: what is wrong and what to do, or null when nothing is. */
  readonly detail: string | null;
};

/**
 * A frame of a program at the far end, such as a device that offers its tools: no message, and nobody reads it in a chat.
 * It is not stored.
 */
export type Frame = {
  /** The chat on whose way it came. */
  readonly jid: string;
  readonly sender: string;
  readonly body: Readonly<Record<string, unknown>>;
};

/**
 * Reports of a channel to the host. A callback that rejects may have stored nothing: the channel hands the same
 * over again, which is safe where it was stored.
 */
export type ChannelEvents = {
  /**
   * Resolves when the message is on disk in the assistant's store. Only then may the channel acknowledge it
   * to the far end, or, where it has kept the message on disk itself before it acknowledged, forget its copy.
   */
  readonly onMessage: (message: InboundMessage) => Promise<void>;
  readonly onChat: (chat: KnownChat) => Promise<void>;
  /**
   * Two chats are the same one: a person under two addresses, or a group that has got another. What is known of `from`
   * goes on under `to`. Resolves when that is on disk; only then may the channel hand over anything more of either. May
   * be told again. With `countsAnew`, an id of a message in `to` may be that of another message in `from`.
   */
  readonly onSameChat?: (
    from: string,
    to: string,
    how?: { readonly countsAnew: boolean },
  ) => Promise<void>;
  /** A direct sender who is not on the channel's own allow-list was dropped, and is counted. */
  readonly onStranger?: (sender: string) => Promise<void>;
  /** Resolves when the answer is on disk. */
  readonly onChoice?: (choice: Choice) => Promise<ChoiceOutcome>;
  /**
   * A person has put an emoji on a message of the assistant's, or has taken it away. Resolves when that is on disk, or
   * means nothing.
   */
  readonly onReaction?: (reaction: Reaction) => Promise<ReactionOutcome>;
  /** Returns true where a service takes the frame. Otherwise the channel treats it as it would without services. */
  readonly onFrame?: (frame: Frame) => boolean;
  /**
   * Registers an address on the HTTP server of this machine, below the channel's name, for a far end that delivers by
   * webhooks: `/letters` of the channel `gull` is `/gull/letters`. It is there until the assistant stops. With the access
   * `own`, the channel checks each request itself, such as by a signature. Rejects where the address is taken.
   */
  readonly route?: (route: Route) => Promise<{ readonly url: string }>;
  /** Tells the owner, in a chat, what they should know and no status says. */
  readonly onNotice?: (text: string) => void;
  readonly onStatus: (status: ChannelStatus) => void;
};

/**
 * A link to an account of the owner's: `/pair` makes it by the set-up step of the channel's name. A step
 * that is given `--relay` prints a code that is to be drawn as a line `qr <code>`.
 */
export type Pairing = {
  /** The name of the far end as people write it: `WhatsApp`. */
  readonly title: string;
  /** Returns the options of the set-up step for what the owner typed after `/pair`, which may be nothing. */
  optionsOf(typed: string): readonly string[];
  /** Says in a sentence why what was typed cannot be used, and what can. */
  wrongUse(typed: string): string;
};

/**
 * One way for messages to get in and out.
 *
 * `connect` resolves when the channel is connected, or has said by status why it will not be; it never
 * rejects because of the far end. A channel with an allow-list drops messages of other people before
 * `onMessage`; an empty list allows no one, and the status says which setting to add.
 */
export interface Channel {
  readonly name: string;
  /** True without an allow-list of its own: it hands over all messages, and the owner's `/allow` decides on them. */
  readonly isOpen?: boolean;
  /** The setting that is its own allow-list, where it has one: `TELEGRAM_ALLOW_FROM`. */
  readonly allowSetting?: string;
  /** Present on a channel that `/pair` links. */
  readonly pairing?: Pairing;
  /** The channel's part of the greeting, as one of a list: `/pair links WhatsApp`. */
  readonly greetingHint?: string;
  readonly capabilities?: ChannelCapabilities;
  connect(events: ChannelEvents): Promise<void>;
  disconnect(): Promise<void>;
  /**
   * Resolves when the far end has taken the message. Rejects when it has not, and the host tries
   * again. Rejects with `UnknownDelivery` where that is unknown and a repeat would be seen twice: the host
   * repeats it once, and tells the owner when that is unknown too. A channel whose ids make a repeat
   * harmless rejects as for a refusal.
   */
  send(message: OutboundMessage): Promise<void>;
  /** Sends a frame once, now. Rejects where it cannot; nothing is repeated. */
  sendFrame?(jid: string, body: Frame['body']): Promise<void>;
  /**
   * Shows what an answer has become, in the message that began under the same id. The host calls it for one
   * draft of a chat at a time, and never while it sends there. A message with `replaces` is the end of it. Rejects as
   * `send` does; a later step has all of the text again. Present with the capability `drafts`.
   */
  draft?(draft: OutboundDraft): Promise<void>;
  /** Takes a draft away; nothing for one that is not known. Present with the capability `drafts`. */
  takeBack?(jid: string, id: string): Promise<void>;
  setTyping(jid: string, isTyping: boolean): Promise<void>;
  ownsJid(jid: string): boolean;
  /**
   * The person that the owner means by what they typed: a phone number, a mail address, an id, or the address of the
   * person's own chat as `ownsJid` has it. Null for none, and for the address of a group.
   */
  personOf?(typed: string): Person | null;
  /**
   * What is missing in an address that could mean several people, such as a phone number without its country, or one
   * where people have no phone numbers: a sentence that says what to type. Null for all other texts. `personOf` finds
   * nobody by such an address, or guesses.
   */
  missingIn?(typed: string): string | null;
  status(): ChannelStatus;
  /** Fetches a file of a message. Rejects, with a text for the one who asked, where it is gone or too large. */
  fetchAttachment?(jid: string, messageId: string): Promise<FetchedAttachment>;
  /** The owner deletes all that is known of a chat: references to its files, copies of what was sent. */
  forgetChat?(jid: string): void;
  /**
   * Told when work on these messages has ended, and the texts about it are delivered, whatever else is under way.
   * Must not throw.
   */
  answered?(jid: string, ids: readonly string[], end?: AnswerEnd): void;
  /**
   * Told when work on these messages waits for an answer to a question that was delivered in this chat, and when
   * it does not any more. Must not throw.
   */
  asking?(jid: string, ids: readonly string[], isOpen: boolean): void;
  /** Told when everything said in the chat so far has been answered and delivered. Must not throw. */
  chatAcknowledged?(jid: string): void;
}

/** Thrown by `send` when it is unknown whether the far end has the message, and a repeat would be seen twice. */
export class UnknownDelivery extends Error {
  override readonly name = 'UnknownDelivery';
}

/**
 * Thrown by `send` where the far end may not get the message before a certain time: the host keeps it until then, and
 * tells the owner. The channel has to refuse it again after a restart, which forgets the time.
 */
export class LaterDelivery extends Error {
  override readonly name = 'LaterDelivery';
  /** Milliseconds since the epoch; at most a day from now. */
  readonly notBefore: number;

  /** @param message why, and what happens, as a sentence for the owner */
  constructor(message: string, notBefore: number) {
    super(message);
    this.notBefore = notBefore;
  }
}

/** Services that a channel works with, beside its own settings. */
export type ChannelContext = {
  readonly assistantName: string;
  /** Absolute path of the folder for what a channel keeps. */
  readonly dataDir: string;
  readonly log: ChannelLog;
  /** The owner's terminal; null where there is none. */
  readonly ownerConsole: ConsolePort | null;
  readonly openDatabase: OpenDatabase;
  readonly clock: ChannelClock;
  /** The commands of this tree, for a far end that shows them; none where a channel is opened without a host. */
  readonly commands?: readonly ChatCommand[];
};

/** A word after a slash that people may say in a chat. */
export type ChatCommand = {
  /** As typed, without the slash; `<…>` is the argument: `add-<skill>`. */
  readonly name: string;
  readonly help: string;
  /** In which registered chats it works: the owner's own, the others, or all. */
  readonly chats: 'main' | 'groups' | 'all';
};

/** Time and chance, given to a channel so that its tests decide on both. */
export type ChannelClock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** A number from 0 up to, not including, 1. */
  random(): number;
  /** Waits, or until the signal is aborted. Never rejects: look at the signal next. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
};

export type ChannelLog = {
  info(message: string, data?: Readonly<Record<string, unknown>>): void;
  warn(message: string, data?: Readonly<Record<string, unknown>>): void;
};

/**
 * A channel as discovered: what a file in `src/channels/` exports as `channel`. It makes null where
 * nothing is set for the channel, which then stays silent.
 */
export type ChannelDefinition = Contribution<ChannelContext, Channel | null>;

/** Defines a channel. `create` gets its own settings, parsed by `settings`, and a `ChannelContext`. */
export function defineChannel<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, ChannelContext, Channel | null>,
): ChannelDefinition {
  return contributionOf(definition);
}
