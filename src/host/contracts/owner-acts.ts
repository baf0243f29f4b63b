import type { ChoiceOutcome } from '../../channels/channel.ts';
import type { HistoryEntry } from '../../store/store.ts';

/** A question that is open in a chat. */
export type OpenQuestion = {
  readonly id: string;
  readonly jid: string;
  /** Its number among the questions of the chat. */
  readonly number: number;
  /** In Markdown, without how to answer it. */
  readonly text: string;
  /** The words and labels to answer with; empty where the next message in the chat is the answer. */
  readonly options: readonly { readonly word: string; readonly label: string }[];
  /** False where a member of the chat was asked, and nobody else may answer. */
  readonly isForOwner: boolean;
};

/** A file with its name, whole in memory. */
export type SaidFile = { readonly name: string; readonly content: Uint8Array };

/** A file of the history: its type is found in its first bytes, whatever its name says. */
export type KeptContent = SaidFile & { readonly mimeType: string };

/**
 * Acts in the owner's name, for a service that has made sure that it is the owner, such as a page behind a login.
 * They are handled like messages: commands, their questions and their answers are the same as in the chat.
 */
export type OwnerActs = {
  /**
   * Says something as the owner in a registered chat, and resolves with the id of the message once it is on disk: an
   * answer to the agent, or a command, which in one of the owner's own chats is `/apply …` and the like. What comes
   * of it is said in that chat; `watch` tells which turn answers the message. A file of at most 20 MB may come with it, and
   * goes the way of a channel's attachment: filters see it, and the agent finds it by its line. With `isTalk` it is talk
   * to the agent, whatever it says: no command, and no answer to a question, also one that is put meanwhile.
   *
   * @throws Error, in words, where no channel has the chat or it is not registered, or the file is empty or too large
   */
  say(
    jid: string,
    text: string,
    file?: SaidFile,
    how?: { readonly isTalk: boolean },
  ): Promise<string>;
  /** Answers a question by one of its words, as a press of a button does. */
  answer(question: OpenQuestion, word: string): Promise<ChoiceOutcome>;
  /** Returns the open questions of a chat, by number. */
  questions(jid: string): readonly OpenQuestion[];
  /**
   * Returns a file of the history. Files from the owner or the assistant are kept for 30 days, at most a gigabyte;
   * files from others are fetched from their channel. Null if it no longer exists.
   *
   * @param number its place among the files of that entry, from 0
   * @throws Error, in words, where a channel does not hand it over
   */
  file(
    jid: string,
    kind: HistoryEntry['kind'],
    seq: number,
    number: number,
  ): Promise<KeptContent | null>;
};
