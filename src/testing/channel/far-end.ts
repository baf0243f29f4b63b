import type { Channel, ChannelContext } from '../../channels/channel.ts';
import type { ContentCells, ContentKind } from './content-kinds.ts';
import type { RuleName } from './rule-names.ts';
import type { Notation } from './shown.ts';

/** A person at the far end: one who may write to the assistant, or one who may not. */
export type Person = 'friend' | 'stranger';

/** The chat of a message: the person's own with the assistant, or a group with them. */
export type Place = 'direct' | 'group';

/** Settings that a channel is made with: as the owner has set it up, or with one thing wrong. */
export type Variation = 'as set up' | 'nobody allowed' | 'wrong token';

/** A message that the channel has sent, as the far end has it now: in the order in which people see them. */
export type SentText = {
  readonly place: Place;
  /** As it went over the line, with its markup. */
  readonly text: string;
};

/**
 * The far end of one channel: a server in this process that speaks the real protocol, and the people there.
 *
 * The methods with a question mark are abilities. A rule that needs one which is not there fails, unless the
 * channel's `lacks` says why it has no such thing.
 */
export interface FarEnd extends AsyncDisposable {
  /**
   * Makes the channel, not connected, as a start of the assistant does. It is called again for a restart, with the
   * same folder and databases. Only `friend` may write, except with `nobody allowed`.
   */
  create(context: ChannelContext, variation: Variation): Channel | null;
  /** The address of the friend's own chat, or of the group; null where the channel has no groups. */
  jidOf(place: Place): string | null;
  /** A person says something. It waits at the far end while the channel is away. */
  sendText(from: Person, place: Place, text: string): unknown;
  /** All that the channel has sent and that is still there. */
  sent(): readonly SentText[];
  /** Words that must be in no status and no line of the log: the tokens, also the wrong one. */
  readonly secrets?: readonly string[];

  /** The ways in which the owner may type who the friend is: a number, a mail address, an id, the chat's address. */
  readonly friendTyped?: readonly string[];
  /** Counts messages to the channel that it has not acknowledged, which the far end would deliver again. */
  waiting?(): number;
  /** Drops all connections and refuses new ones. */
  goDown?(): Promise<unknown>;
  /** Is there again, at the same address. */
  comeUp?(): Promise<unknown>;
  /** From now on the token is not valid. */
  revoke?(): unknown;
  /**
   * The next message of the channel, or the one that many later, is refused because there were too many: with a time
   * to wait, or null for none.
   */
  limitNext?(retryAfterSeconds: number | null, later?: number): unknown;
  /** The next message of the channel is taken, and the line is cut instead of an answer. */
  loseNext?(): unknown;
  /** Half of what would be a message of the friend comes in, and then the line is cut. */
  sendHalf?(): unknown;
  /** Bytes that are no UTF-8 come in, where a message of the friend would have its text. */
  sendInvalid?(): unknown;
  /** The friend sends a file, in their own chat, that is said to be so large; no such file is there. */
  sendFile?(name: string, sizeBytes: number): unknown;
  /** The friend changes the last thing that they said in their own chat. */
  edit?(text: string): unknown;
  /** The friend takes the last thing back that they said in their own chat. */
  remove?(): unknown;
  /** The friend passes on, in their own chat, what somebody else wrote. */
  forward?(text: string): unknown;
  /**
   * What the cell of that kind is about happens at the far end, as it goes over the line there: in the friend's own chat,
   * or in the group where only a group has it. A kind that is about an answer sends one by the channel.
   */
  sendContent?(kind: ContentKind, channel: Channel): unknown;
  /** The friend blocks the assistant, or deletes the chat: nothing can be sent to it any more. */
  close?(place: Place): unknown;
}

/** A channel, as the suite needs to know it. */
export type ChannelSubject = {
  /** The channel's own name. */
  readonly name: string;
  /** The longest message that the far end takes. */
  readonly limit: number;
  /** Counts the length of a message as the far end does; by default, UTF-16 units of the text that is shown. */
  readonly lengthOf?: (text: string) => number;
  /** Reads a message as the far end's apps show it: one of `NOTATIONS`, or a channel's own. */
  readonly notation: Notation;
  /** The setting that the status has to name where the token is wrong: `TELEGRAM_BOT_TOKEN`. */
  readonly tokenSetting?: string;
  /** The rules that mean nothing to this channel, each with the reason, as the rest of "not here: …". */
  readonly lacks: Readonly<Partial<Record<RuleName, string>>>;
  /** What the agent sees of each kind of content. */
  readonly content: ContentCells;
  /** Starts a far end for one rule. `dataDir` is the channel's folder, for what has to be there before it starts. */
  start(dataDir: string): Promise<FarEnd>;
};
