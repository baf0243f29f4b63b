/** A file that came with a message; it is fetched only when an agent or a person asks for it. */
export type Attachment = {
  readonly kind: 'image' | 'video' | 'voice' | 'audio' | 'document' | 'sticker';
  /** The type that the sender claims; the true one shows when the file is fetched. */
  readonly mimeType: string | null;
  readonly sizeBytes: number | null;
  readonly name: string | null;
  /** Playing time. */
  readonly seconds?: number;
};

/**
 * An attachment on this machine, the caller's to move or delete: the path is named by the content, the
 * type found in its first bytes.
 */
export type FetchedAttachment = {
  readonly path: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly name: string | null;
};

/** A message as it arrived. `id` is the channel's own and unique within its chat. */
export type InboundMessage = {
  readonly id: string;
  readonly jid: string;
  readonly chatName: string | null;
  /** One person and the assistant, not a group. */
  readonly isDirect: boolean;
  readonly sender: string;
  readonly senderName: string | null;
  /** The channel vouches that the installation's owner wrote it. */
  readonly isOwner: boolean;
  readonly mentionsAssistant: boolean;
  /**
   * The text as it was written, and nothing else. The message that it answers, and content that is not text, are
   * `notes`. The host shows the notes and the files after the text. An address behind words is written as Markdown:
   * `[words](address)`.
   */
  readonly text: string;
  /**
   * The words and files are somebody else's, and the sender passed them on. The host shows them as such. They are
   * never a command, an answer to a question or a call of the assistant.
   */
  readonly forwarded?: Origin;
  /** The sender may only talk: the words are never a command or an answer to a question. */
  readonly isTalk?: boolean;
  /**
   * Facts for the agent beside the words, one line each, made by `kit/notes.ts`: a place, a poll, the message that
   * this one answers. The host puts each in brackets on a line of its own.
   */
  readonly notes?: readonly string[];
  /** Milliseconds since the epoch, as the channel says; never used for ordering. */
  readonly sentAt: number;
  /** Something to know, which needs no answer, such as a reaction or a correction. */
  readonly isContext?: boolean;
  /** It would have been answered but came too late. The owner is told how many there were. */
  readonly isLate?: boolean;
  /**
   * At most one. A channel hands over further files as messages of their own, before this one: an agent asks for a file
   * by the id of its message.
   */
  readonly attachments?: readonly Attachment[];
  /** The channel's id of the thread within the chat that it was said in. */
  readonly thread?: string;
  /** The thread as people know it, shown behind the sender's name: `topic Bikes`. */
  readonly threadName?: string;
};

/** The author of a forwarded message; the name is null if the messenger does not show it. */
export type Origin = { readonly from: string | null };

/** A file that goes out: the host's own copy, which no agent can change. */
export type OutboundFile = {
  /** Absolute; it is there until the message is taken or given up. */
  readonly path: string;
  /** The name that the recipient sees, without a folder. */
  readonly name: string;
  readonly sizeBytes: number;
};

/** The message that another one answers, as it was stored. */
export type RepliedTo = {
  readonly id: string;
  readonly sender: string;
  readonly text: string;
};

/** A question that is answered by a press: of a button, or on an option of a poll. */
export type OutboundChoices = {
  /** Names the question in `onChoice`. */
  readonly question: string;
  /** The question without how to answer it. */
  readonly text: string;
  readonly options: readonly { readonly word: string; readonly label: string }[];
};

/**
 * A message to send: Markdown, which the channel turns into its own dialect, in as many parts as it needs.
 * The fields of a capability are there only on a channel that has it.
 */
export type OutboundMessage = {
  /** Made before sending, so that a repeat after a crash is the same message if the channel accepts ids. */
  readonly id: string;
  readonly jid: string;
  readonly text: string;
  /** The ids of the messages that it answers or reports on; empty if the assistant speaks by itself. */
  readonly answersTo?: readonly string[];
  /** True if it reports the progress of a command; the answer comes later. */
  readonly isProgress?: boolean;
  /** True if an agent said it, not a command or the host itself. */
  readonly isAgents?: true;
  /**
   * Charges the chat's group for paid work on an agent's message: the name in `/budget`, and the price in millionths
   * of a dollar. Returns false and charges nothing if the group may spend nothing more today.
   */
  readonly pay?: (work: { readonly name: string; readonly microUsd: number }) => boolean;
  /** Go out after the text. */
  readonly attachments?: readonly OutboundFile[];
  readonly replyTo?: RepliedTo;
  /** The `thread` of the message that it answers. */
  readonly thread?: string;
  /** Shown below the text, which does not name them unless the capability says so. */
  readonly choices?: OutboundChoices;
  /** The message on which the text, an emoji, is put. */
  readonly reactsTo?: RepliedTo;
  /** The `id` of an earlier message or draft, a few minutes old at most, which gets this text in place of its own. */
  readonly replaces?: string;
  /**
   * An attempt to send it has an unknown outcome, so the far end may have it, no older than `since`, in milliseconds
   * since the epoch. A channel whose far end takes no ids of ours looks there before it sends it again.
   */
  readonly mayBeThere?: { readonly since: number };
};

/** An answer that is being written, as it is so far. The fields of a capability are as in a message. */
export type OutboundDraft = Pick<
  OutboundMessage,
  'id' | 'jid' | 'text' | 'answersTo' | 'replyTo' | 'thread'
> & {
  /** The assistant's present activity, in a few words: `reading files`. Null for nothing to tell. */
  readonly activity: string | null;
};

/** A press that answers a question, and who pressed, as a message of theirs would say it. */
export type Choice = Pick<InboundMessage, 'jid' | 'sender' | 'isOwner'> & {
  readonly question: string;
  /** The word of the option, or its number, from 1. */
  readonly word: string;
};

/**
 * Result of a press: the answer is stored and will be confirmed; or the question is for another person; or
 * it is not open any more.
 */
export type ChoiceOutcome = 'noted' | 'not-asked' | 'closed';

/** The emoji that a person has on a message of the assistant's now, and who that is. */
export type Reaction = Pick<InboundMessage, 'jid' | 'sender' | 'isOwner'> & {
  /** The `id` under which the host sent the message, or a draft of it. */
  readonly messageId: string;
  /** Null where it was taken away. */
  readonly emoji: string | null;
};

/** Result of a reaction: it answered the question that it is on; it is kept; or it means nothing here. */
export type ReactionOutcome = 'answered' | 'kept' | 'ignored';
