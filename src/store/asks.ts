import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { CURRENT_JID } from './chats/chats.ts';

export type NewAsk = {
  readonly id: string;
  readonly jid: string;
  readonly number: number;
  /** The channel's id of the person who is asked; null for the owner. */
  readonly sender: string | null;
  readonly payload: unknown;
  /** True if no work waits for the answer, which starts some: the question outlives the process. */
  readonly isClosing: boolean;
};

/** An open question, or one whose `reply` the work that asked has still to take; null as long as it is open. */
export type StoredAsk = Omit<NewAsk, 'jid'> & {
  readonly reply: unknown;
  /** When it was put, or put once more. */
  readonly askedAt: number;
};

/** Questions to people. They are known by number within a chat, and several can be open. */
export interface Asks {
  open(ask: NewAsk, now: number): void;
  /** Returns the smallest number that no question of the chat has. */
  freeNumber(jid: string): number;
  byId(id: string): StoredAsk | null;
  /** Returns the questions of a chat that wait for an answer, by number. */
  inChat(jid: string): readonly StoredAsk[];
  answer(id: string, reply: unknown): void;
  /** Notes that the question was put once more. */
  repeat(id: string, now: number): void;
  close(id: string): void;
  /** Closes all questions for which the work of an earlier process waited. */
  closeOrphans(): void;
  /**
   * Tells whether something else was said in the chat after the question, by another person than `sender` or by the
   * assistant: a yes may be meant for that. What the turn says that asks, and what an answer was told, is not such.
   */
  isFollowedByOther(id: string, sender: string): boolean;
}

const Row = z
  .object({
    id: z.string(),
    number: z.int(),
    sender: z.string().nullable(),
    payload: z.string(),
    reply: z.string().nullable(),
    is_closing: z.int(),
    asked_at: z.int(),
  })
  .transform(({ payload, reply, is_closing, asked_at, ...row }) => ({
    ...row,
    askedAt: asked_at,
    payload: parseJson(payload),
    reply: reply === null ? null : parseJson(reply),
    isClosing: is_closing !== 0,
  }));
const Numbered = z.object({ number: z.int() });

export function openAsks(database: Database): Asks {
  const columns = 'id, number, sender, payload, reply, is_closing, asked_at';
  const open = database.prepare(`
    INSERT INTO asks (id, jid, number, sender, payload, is_closing, asked_at)
    VALUES (:id, ${CURRENT_JID}, :number, :sender, :payload, :isClosing, :now)`);
  const numbers = database.prepare('SELECT number FROM asks WHERE jid = ?');
  const byId = database.prepare(`SELECT ${columns} FROM asks WHERE id = ?`);
  const inChat = database.prepare(
    `SELECT ${columns} FROM asks WHERE jid = ? AND reply IS NULL ORDER BY number`,
  );
  const answer = database.prepare('UPDATE asks SET reply = :reply WHERE id = :id');
  const repeat = database.prepare('UPDATE asks SET asked_at = :now WHERE id = :id');
  const close = database.prepare('DELETE FROM asks WHERE id = ?');
  // Where an older tree asked it, that tree would find it open once more after a way back.
  const closeOld = database.prepare("DELETE FROM questions WHERE 'question:' || jid = ?");
  const closeOrphans = database.prepare('DELETE FROM asks WHERE is_closing = 0');
  const followed = database.prepare(`
    SELECT 1 FROM asks JOIN outbox ON outbox.jid = asks.jid
    LEFT JOIN turns ON turns.id = outbox.turn_id
    WHERE asks.id = :id AND outbox.created_at > asks.asked_at
    AND (turns.kind IS NOT 'command' OR turns.payload ->> 'kind' IS NOT 'said'
      AND turns.id IS NOT asks.payload ->> 'turnId')
    UNION ALL
    SELECT 1 FROM asks WHERE asks.id = :id AND asks.asked_at < (
      SELECT stored_at FROM messages WHERE messages.jid = asks.jid AND sender <> :sender
      ORDER BY messages.seq DESC LIMIT 1)
    LIMIT 1`);
  return {
    open: ({ payload, isClosing, ...ask }, now) =>
      void open.run({
        ...ask,
        payload: JSON.stringify(payload),
        isClosing: Number(isClosing),
        now,
      }),
    freeNumber(jid) {
      const taken = new Set(numbers.all(jid).map((row) => Numbered.parse(row).number));
      let number = 1;
      while (taken.has(number)) number += 1;
      return number;
    },
    byId(id) {
      const row = byId.get(id);
      return row === undefined ? null : Row.parse(row);
    },
    inChat: (jid) => inChat.all(jid).map((row) => Row.parse(row)),
    answer: (id, reply) => void answer.run({ id, reply: JSON.stringify(reply) }),
    repeat: (id, now) => void repeat.run({ id, now }),
    close(id) {
      close.run(id);
      closeOld.run(id);
    },
    closeOrphans: () => void closeOrphans.run(),
    isFollowedByOther: (id, sender) => followed.get({ id, sender }) !== undefined,
  };
}

function parseJson(text: string): unknown {
  return JSON.parse(text);
}
