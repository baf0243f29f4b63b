import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { NewOutbound } from './outbox-message.ts';

/** SQL that tells of a row of `turns` whether its answer goes to another chat than its own. */
export function isPrivateSql(table: string): string {
  return `${table}.id IN (SELECT turn_id FROM private_turns)`;
}

/** Turns of groups that answer in the chat of the person who asked. */
export interface PrivateTurns {
  /** Has everything that a turn says go to another chat. Belongs into the transaction that queues the turn. */
  note(turnId: string, jid: string): void;
  /** Returns the chat that gets what a turn says; null where that is its own. */
  chatOf(turnId: string): string | null;
  /**
   * Returns a message with the chat that it goes to: what a private turn says in its group goes to the chat of the person
   * who asked. Where that chat was taken out meanwhile, nobody gets it, and the group is told so.
   */
  readdressed(message: NewOutbound): NewOutbound;
}

/** The address that the chat goes by now. */
const CURRENT = `coalesce(
  (SELECT merged_into FROM chats WHERE chats.jid = private_turns.answered_in), private_turns.answered_in)`;

const Chat = z.object({ jid: z.string() });
const Place = z.object({ jid: z.string(), group_name: z.string(), is_there: z.int() });

export function openPrivateTurns(database: Database): PrivateTurns {
  const insert = database.prepare('INSERT INTO private_turns (turn_id, answered_in) VALUES (?, ?)');
  const chatOf = database.prepare(`SELECT ${CURRENT} AS jid FROM private_turns WHERE turn_id = ?`);
  const place = database.prepare(`
    SELECT ${CURRENT} AS jid, groups.name AS group_name,
      ${CURRENT} IN (SELECT jid FROM groups) AS is_there
    FROM private_turns JOIN turns ON turns.id = private_turns.turn_id JOIN groups ON groups.jid = turns.jid
    WHERE turns.id = :turnId AND turns.jid = :jid`);
  return {
    note: (turnId, jid) => void insert.run(turnId, jid),
    chatOf(turnId) {
      const row = chatOf.get(turnId);
      return row === undefined ? null : Chat.parse(row).jid;
    },
    readdressed(message) {
      const { turnId = null, jid, threadOf, text, isProgress, isReaction } = message;
      // A question for somebody in the group names its thread by itself, and stays where its answer is awaited.
      if (turnId === null || threadOf !== undefined) return message;
      const found = place.get({ turnId, jid });
      if (found === undefined) return message;
      const { jid: to, group_name: group, is_there: isThere } = Place.parse(found);
      if (isThere === 0) {
        const lost = 'The chat for the private answer is gone. Ask again.';
        return { messageId: message.messageId, jid, text: lost, turnId };
      }
      const isBare = isProgress === true || isReaction === true;
      return {
        ...message,
        jid: to,
        text: isBare ? text : `In private, from ${group}:\n\n${text}`,
        // Both are places of the group.
        replyTo: null,
        threadOf: null,
      };
    },
  };
}
