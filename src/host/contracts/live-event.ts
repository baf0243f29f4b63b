import type { ChannelStatus } from '../../channels/channel.ts';
import type { ClawProgress } from './claw.ts';

/**
 * An event in the assistant, for a service that shows it. Events are neither stored nor repeated: lasting facts are
 * in the store, and `chat` says when to read them again.
 */
export type LiveEvent =
  /** Something was said in a chat, or a question there was put, answered or withdrawn. */
  | { readonly kind: 'chat'; readonly jid: string }
  /** A question that the owner or a member may answer is open; `questions` of `OwnerActs` has it. */
  | { readonly kind: 'asked'; readonly jid: string; readonly question: string }
  | ({ readonly kind: 'began' } & LiveTurn)
  /** A tool of the turn began or ended, or it waits for something, in words for people. */
  | {
      readonly kind: 'step';
      readonly turn: string;
      readonly jid: string;
      readonly line: string;
      readonly isOver: boolean;
    }
  /** A command changes the code: what it does now, what proves the change, and what that prints. */
  | {
      readonly kind: 'progress';
      readonly turn: string;
      readonly jid: string;
      readonly progress: ClawProgress;
    }
  /** More of the answer. */
  | { readonly kind: 'delta'; readonly turn: string; readonly jid: string; readonly text: string }
  /** The turn is over; its texts are in the chat. `error` is a code. */
  | {
      readonly kind: 'ended';
      readonly turn: string;
      readonly jid: string;
      readonly state: string;
      readonly error: string | null;
    }
  | ({ readonly kind: 'status'; readonly channel: string } & ChannelStatus)
  /** A line of the log as JSON, with its secrets blanked out. */
  | { readonly kind: 'log'; readonly line: string };

/** A turn that runs. */
export type LiveTurn = {
  readonly turn: string;
  readonly jid: string;
  /** Null where its chat is not registered any more. */
  readonly folder: string | null;
  readonly work: 'agent' | 'command';
  /** The command as it was typed; null for an agent's turn. */
  readonly title: string | null;
  /** Ids of the messages that it answers. */
  readonly answersTo: readonly string[];
  readonly startedAt: number;
};

/**
 * Calls back for each event until the service ends or the returned function is called. Running turns come first: each
 * as `began`, with a `delta` of its whole text so far and the `progress` of a change, without output. A listener that
 * throws is not called again.
 */
export type Watch = (onEvent: (event: LiveEvent) => void) => () => void;
