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
   * The owner's own chat here, in which only they write. It becomes main beside the terminal. Reported before its
   * first message, and for one chat of a channel at a time.
   */
  readonly isOwners?: boolean;
};

/** A person on a channel, who need not have written yet. */
export type Person = {
  /** The `sender` of their messages. */
  readonly sender: string;
  /** The address of their own chat with the assistant; null if it cannot be derived from theirs. */
  readonly chat: string | null;
  /**
   * True if the text could also mean something else, such as digits that are an id or a phone number. It then means
   * this person only if they have written. Otherwise `missingIn` tells the owner what to type.
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
    /**
     * The most characters of a label; any number by default. Longer labels are put into the text, and shown by number
     * and word.
     */
    readonly longest?: number;
    /** The text also numbers the choices, because not every app of the channel shows the buttons. */
    readonly isBesideText?: true;
  };
  /** It puts an emoji on a message. Otherwise the emoji is a message. */
  readonly reactions?: true;
  /** It speaks answers: `send` is told which messages come from an agent. */
  readonly speech?: true;
  /** It can edit what it sent. Otherwise each line of progress is a new message. */
  readonly edits?: true;
  /**
   * It shows an answer while it is written, by `draft`. Otherwise the chat shows that the assistant is typing, and
   * after a while one message says what it does.
   */
  readonly drafts?: {
    /** The shortest time between two drafts in a chat. A second, if each is an edit at the far end. */
    readonly everyMs: number;
    /** The same in groups, if a far end allows less there. */
    readonly everyMsInGroup?: number;
    /** A draft stays below everything that arrives meanwhile. Otherwise a new draft further down replaces it. */
    readonly staysLast?: true;
  };
};

export type ChannelStatus = {
  readonly state: 'stopped' | 'unpaired' | 'connecting' | 'connected' | 'refused' | 'failed';
  /** One line for the owner: what is wrong and what to do; null if nothing is wrong. */
  readonly detail: string | null;
};

/**
 * A frame from a program at the far end, such as a device that offers its tools. It is not a message: nobody sees it
 * in a chat, and it is not stored.
 */
export type Frame = {
  /** The chat that it came through. */
  readonly jid: string;
  readonly sender: string;
  readonly body: Readonly<Record<string, unknown>>;
};

/**
 * Reports of a channel to the host. If a callback rejects, nothing may have been stored: the channel reports the same
 * again. That is safe even if it was stored.
 */
export type ChannelEvents = {
  /**
   * Resolves when the message is on disk in the assistant's store. Only then may the channel acknowledge it to the
   * far end, or forget its own copy if it had stored one before acknowledging.
   */
  readonly onMessage: (message: InboundMessage) => Promise<void>;
  readonly onChat: (chat: KnownChat) => Promise<void>;
  /**
   * Two chats are the same: one person under two addresses, or a group with a new address. Everything known of `from`
   * continues under `to`. Resolves when this is on disk; only then may the channel report more from either. May be
   * reported again. With `countsAnew`, an id of a message in `to` may belong to another message in `from`.
   */
  readonly onSameChat?: (
    from: string,
    to: string,
    how?: { readonly countsAnew: boolean },
  ) => Promise<void>;
  /** Counts a direct message that was dropped because its sender is not on the channel's own allow-list. */
  readonly onStranger?: (sender: string) => Promise<void>;
  /** Resolves when the answer is on disk. */
  readonly onChoice?: (choice: Choice) => Promise<ChoiceOutcome>;
  /**
   * A person put an emoji on a message of the assistant, or removed it. Resolves when this is on disk, or has no
   * meaning.
   */
  readonly onReaction?: (reaction: Reaction) => Promise<ReactionOutcome>;
  /** Returns true if a service accepts the frame. Otherwise the channel handles it as if there were no services. */
  readonly onFrame?: (frame: Frame) => boolean;
  /**
   * Registers an address on the HTTP server of this machine, below the channel's name, for a far end that delivers by
   * webhooks: `/letters` of the channel `gull` is `/gull/letters`. It stays until the assistant stops. With the
   * access `own`, the channel checks each request itself, for example by a signature. Rejects if the address is
   * taken.
   */
  readonly route?: (route: Route) => Promise<{ readonly url: string }>;
  /** Tells the owner something, in a chat, that no status says. */
  readonly onNotice?: (text: string) => void;
  readonly onStatus: (status: ChannelStatus) => void;
};

/**
 * A link to an account of the owner: `/pair` makes it with the set-up step of the channel's name. If the step is
 * called with `--relay` and prints a line `qr <code>`, the code is drawn.
 */
export type Pairing = {
  /** The name of the far end as people write it: `WhatsApp`. */
  readonly title: string;
  /** Returns the options of the set-up step for the text that the owner typed after `/pair`, which may be empty. */
  optionsOf(typed: string): readonly string[];
  /** Says in a sentence why the typed text cannot be used, and what can. */
  wrongUse(typed: string): string;
};

/**
 * One way for messages to get in and out.
 *
 * `connect` resolves when the channel is connected, or has reported a status that says why it will not be. It never
 * rejects because of the far end. A channel with an allow-list drops messages of other people before `onMessage`. An
 * empty list lets nobody in, and the status says which setting to add.
 */
export interface Channel {
  readonly name: string;
  /** True if the channel has no allow-list of its own: it reports all messages, and the owner's `/allow` decides. */
  readonly isOpen?: boolean;
  /** The setting with its own allow-list, if it has one: `TELEGRAM_ALLOW_FROM`. */
  readonly allowSetting?: string;
  /** Present on a channel that `/pair` can link. */
  readonly pairing?: Pairing;
  /** The channel's part of the greeting, as one of a list: `/pair links WhatsApp`. */
  readonly greetingHint?: string;
  readonly capabilities?: ChannelCapabilities;
  connect(events: ChannelEvents): Promise<void>;
  disconnect(): Promise<void>;
  /**
   * Resolves when the far end has accepted the message. Rejects if it has not, and the host tries again. Rejects with
   * `UnknownDelivery` if the outcome is unknown and people would see a repeat twice: the host repeats it once, and
   * tells the owner if that outcome is unknown too. A channel whose ids make a repeat harmless rejects as for a
   * refusal.
   */
  send(message: OutboundMessage): Promise<void>;
  /** Sends a frame once, now. Rejects if it cannot; nothing is repeated. */
  sendFrame?(jid: string, body: Frame['body']): Promise<void>;
  /**
   * Shows the present text of an answer, in the message that began under the same id. The host calls it for one draft
   * of a chat at a time, and never while it sends there. A message with `replaces` ends the draft. Rejects as `send`
   * does; a later call has the whole text again. Present with the capability `drafts`.
   */
  draft?(draft: OutboundDraft): Promise<void>;
  /** Removes a draft; does nothing for an unknown one. Present with the capability `drafts`. */
  takeBack?(jid: string, id: string): Promise<void>;
  setTyping(jid: string, isTyping: boolean): Promise<void>;
  ownsJid(jid: string): boolean;
  /**
   * Returns the person that the owner means by a typed text: a phone number, a mail address, an id, or the address of
   * the person's own chat as in `ownsJid`. Null for nobody, and for the address of a group.
   */
  personOf?(typed: string): Person | null;
  /**
   * Returns a sentence that says what to type instead of an address that could mean several people, such as a phone
   * number without its country, or a phone number where people have none. Null for all other texts. For such an
   * address, `personOf` finds nobody, or marks a guess.
   */
  missingIn?(typed: string): string | null;
  status(): ChannelStatus;
  /** Fetches a file of a message. Rejects if it is gone or too large, with a text for the person who asked. */
  fetchAttachment?(jid: string, messageId: string): Promise<FetchedAttachment>;
  /** Deletes everything known of a chat, for the owner: references to its files, copies of sent messages. */
  forgetChat?(jid: string): void;
  /**
   * Called when work on these messages has ended and the texts about it are delivered, whatever else is in progress.
   * Must not throw.
   */
  answered?(jid: string, ids: readonly string[], end?: AnswerEnd): void;
  /**
   * Called when work on these messages begins or stops waiting for the answer to a question that was delivered in
   * this chat. Must not throw.
   */
  asking?(jid: string, ids: readonly string[], isOpen: boolean): void;
  /** Called when everything said in the chat so far has been answered and delivered. Must not throw. */
  chatAcknowledged?(jid: string): void;
}

/** Thrown by `send` if it is unknown whether the far end has the message, and people would see a repeat twice. */
export class UnknownDelivery extends Error {
  override readonly name = 'UnknownDelivery';
}

/**
 * Thrown by `send` if the far end may not get the message before a certain time. The host keeps it until then, and
 * tells the owner. A restart forgets the time, so the channel must refuse it again.
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
  /** Absolute path of the channel's data folder. */
  readonly dataDir: string;
  readonly log: ChannelLog;
  /** The owner's terminal; null if there is none. */
  readonly ownerConsole: ConsolePort | null;
  readonly openDatabase: OpenDatabase;
  readonly clock: ChannelClock;
  /** The commands of this tree, for a far end that shows them; empty if a channel is opened without a host. */
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

/** Time and randomness, given to a channel so that its tests control both. */
export type ChannelClock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** A number from 0 up to, not including, 1. */
  random(): number;
  /** Waits, but at most until the signal is aborted. Never rejects: check the signal next. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
};

export type ChannelLog = {
  info(message: string, data?: Readonly<Record<string, unknown>>): void;
  warn(message: string, data?: Readonly<Record<string, unknown>>): void;
};

/**
 * A channel as discovered: the export `channel` of a file in `src/channels/`. It returns null if the channel is not
 * set up; the channel then stays silent.
 */
export type ChannelDefinition = Contribution<ChannelContext, Channel | null>;

/** Defines a channel. `create` gets its own settings, parsed by `settings`, and a `ChannelContext`. */
export function defineChannel<S extends z.ZodRawShape>(
  definition: ContributionDefinition<S, ChannelContext, Channel | null>,
): ChannelDefinition {
  return contributionOf(definition);
}
