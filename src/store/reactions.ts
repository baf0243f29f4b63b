import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** A person's emoji on a message of the assistant's. */
export type KeptReaction = {
  /** The host's id of the message. */
  readonly messageId: string;
  /** The turn that the message answers; null for a message of the assistant's own accord. */
  readonly turnId: string | null;
  readonly jid: string;
  readonly sender: string;
  readonly isOwner: boolean;
  /** Null where it was taken away. */
  readonly emoji: string | null;
};

export type NewReaction = Omit<KeptReaction, 'turnId'>;

/** Reactions as they are now: one of each person on each message. */
export interface Reactions {
  /**
   * Notes what a person has on a message now. Returns null where the chat has no such message, or they had the same
   * on it before.
   */
  note(reaction: NewReaction, now: number): KeptReaction | null;
  /** Returns those that were put since a moment, oldest first. */
  since(moment: number): readonly KeptReaction[];
}

const Said = z.object({ turn_id: z.string().nullable(), emoji: z.string().nullable() });
const Row = z
  .object({
    message_id: z.string(),
    turn_id: z.string().nullable(),
    jid: z.string(),
    sender: z.string(),
    is_owner: z.int(),
    emoji: z.string(),
  })
  .transform((row) => ({
    messageId: row.message_id,
    turnId: row.turn_id,
    jid: row.jid,
    sender: row.sender,
    isOwner: row.is_owner === 1,
    emoji: row.emoji,
  }));

export function openReactions(database: Database): Reactions {
  const find = database.prepare(`
    SELECT outbox.turn_id, reactions.emoji FROM outbox
    LEFT JOIN reactions ON reactions.message_id = outbox.message_id AND reactions.sender = :sender
    WHERE outbox.message_id = :messageId AND outbox.jid = :jid`);
  const put = database.prepare(`
    INSERT INTO reactions (message_id, sender, is_owner, emoji, reacted_at)
    VALUES (:messageId, :sender, :isOwner, :emoji, :now)
    ON CONFLICT (message_id, sender) DO UPDATE SET emoji = excluded.emoji, reacted_at = excluded.reacted_at`);
  const take = database.prepare(
    'DELETE FROM reactions WHERE message_id = :messageId AND sender = :sender',
  );
  const since = database.prepare(`
    SELECT reactions.message_id, turn_id, jid, sender, is_owner, emoji FROM reactions
    JOIN outbox ON outbox.message_id = reactions.message_id
    WHERE reacted_at >= ? ORDER BY reacted_at`);
  return {
    note: database.transaction((reaction: NewReaction, now: number) => {
      const { messageId, jid, sender, isOwner, emoji } = reaction;
      const said = Said.optional().parse(find.get({ messageId, jid, sender }));
      if (said === undefined || said.emoji === emoji) return null;
      if (emoji === null) take.run({ messageId, sender });
      else put.run({ messageId, sender, isOwner: Number(isOwner), emoji, now });
      return { ...reaction, turnId: said.turn_id };
    }),
    since: (moment) => since.all(moment).map((row) => Row.parse(row)),
  };
}
