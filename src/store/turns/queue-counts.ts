import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** Counts of the work in the queue, for `/status`. */
export type QueueCounts = {
  readonly queued: number;
  readonly running: number;
  readonly failed: number;
  readonly unsent: number;
};

const Row = z.object({ queued: z.int(), running: z.int(), failed: z.int(), unsent: z.int() });

export function countTurns(database: Database): QueueCounts {
  return Row.parse(
    database
      .prepare(
        `SELECT
          (SELECT count(*) FROM turns WHERE state = 'queued') AS queued,
          (SELECT count(*) FROM turns WHERE state IN ('claimed', 'resuming')) AS running,
          (SELECT count(*) FROM turns WHERE state = 'failed' AND seq = (
            SELECT max(seq) FROM turns AS newest
            WHERE newest.jid = turns.jid AND newest.kind = turns.kind
            AND (newest.kind = 'command' OR newest.payload IS NULL))) AS failed,
          (SELECT count(*) FROM outbox WHERE state IN ('queued', 'sending')) AS unsent`,
      )
      .get(),
  );
}
