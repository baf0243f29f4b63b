import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { isPrivateSql } from '../private-turns.ts';
import type { MessageRange } from './messages.ts';

/**
 * Questions in a chat while its turn runs. They wait as a turn of their own until the running one takes them.
 */
export interface FollowUps {
  /**
   * Returns the messages after the claimed turn, as the next turn of the chat covers them; null when none
   * waits, or one of both is private.
   */
  waiting(turnId: string): MessageRange | null;
  /**
   * Makes everything up to a cursor part of the claimed turn, and of no other.
   * False, with nothing written, when the lease was lost.
   */
  take(turnId: string, owner: string, upto: number): boolean;
}

const WaitingRow = z.object({ jid: z.string(), from: z.int(), upto: z.int() });

export function openStoredFollowUps(database: Database): FollowUps {
  const asked = `turns.kind = 'agent' AND turns.state = 'queued' AND turns.payload IS NULL`;
  const waiting = database.prepare(`
    SELECT mine.jid, mine.upto_seq + 1 AS "from", min(turns.upto_seq) AS upto
    FROM turns AS mine JOIN turns ON turns.jid = mine.jid AND ${asked}
    WHERE mine.id = ? AND mine.state = 'claimed' AND turns.upto_seq > mine.upto_seq
    AND NOT EXISTS (SELECT 1 FROM turns AS apart WHERE apart.jid = mine.jid
      AND apart.state IN ('queued', 'claimed') AND ${isPrivateSql('apart')})
    GROUP BY mine.jid`);
  const extend = database.prepare(`
    UPDATE turns SET upto_seq = max(upto_seq, :upto)
    WHERE id = :turnId AND state = 'claimed' AND lease_owner = :owner RETURNING jid`);
  const withdraw = database.prepare(
    `DELETE FROM turns WHERE jid = :jid AND ${asked} AND upto_seq <= :upto`,
  );
  return {
    waiting(turnId) {
      const row = waiting.get(turnId);
      return row === undefined ? null : WaitingRow.parse(row);
    },
    take: database.transaction((turnId: string, owner: string, upto: number) => {
      const row = extend.get({ turnId, owner, upto });
      if (row === undefined) return false;
      const { jid } = z.object({ jid: z.string() }).parse(row);
      withdraw.run({ jid, upto });
      return true;
    }),
  };
}
