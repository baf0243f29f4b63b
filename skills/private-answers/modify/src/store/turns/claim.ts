import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { withoutWaiting } from '../../lib/own-database.ts';
import { isPrivateSql } from '../private-turns.ts';
import { parseTurn, TURN_COLUMNS, type Turn, type TurnKind } from './turn.ts';

/**
 * A process's claim on a turn. Its owner alone decides: no turn is taken because its time is over, as one process
 * at a time runs on a database. No statement reads `until`: it
 * shows a person who looks into the database until when the owner meant to be alive.
 */
export type Lease = { readonly owner: string; readonly until: number };

/**
 * Returns the SQL that tells whether a turn is independent of everything that another turn of its group may be changing.
 */
export function isQuickSql(table: string): string {
  return `coalesce(json_extract(${table}.payload, '$.isQuick'), 0)`;
}

/** Returns the SQL that tells whether an agent's turn runs beside the others of its group. */
function isBesideSql(table: string): string {
  return `coalesce(json_extract(${table}.payload, '$.isBeside'), 0)`;
}

const Seq = z.object({ seq: z.int() });
const Next = z.object({ seq: z.int(), folder: z.string(), is_task: z.int() });

/**
 * Claims the next turn of a kind, in one transaction; null when none can run.
 *
 * A group, which is a folder, runs one turn of a kind at a time. Of the groups that wait, the one whose last
 * turn began longest ago is next, so no group is served twice while another waits. Within a group, people and
 * tasks take turns where both wait; otherwise the oldest turn is first.
 *
 * A turn whose payload says `isQuick` waits for no other, and no other waits for it. Those that say `isBeside` are
 * claimed apart, the oldest first.
 */
export function createClaimer(database: Database): {
  readonly claimNext: (kind: TurnKind, lease: Lease) => Turn | null;
  readonly claimBeside: (lease: Lease) => Turn | null;
} {
  const next = database.prepare(`
    SELECT waiting.seq, groups.folder, waiting.payload IS NOT NULL AS is_task
    FROM turns AS waiting JOIN groups ON groups.jid = waiting.jid
    LEFT JOIN served ON served.folder = groups.folder AND served.kind = waiting.kind
    WHERE waiting.state = 'queued' AND waiting.kind = :kind AND NOT ${isBesideSql('waiting')} AND (
      ${isQuickSql('waiting')} OR NOT EXISTS (
      SELECT 1 FROM turns AS busy JOIN groups AS its ON its.jid = busy.jid
      WHERE busy.kind = waiting.kind AND busy.state IN ('claimed', 'resuming')
      AND its.folder = groups.folder AND NOT ${isQuickSql('busy')} AND NOT ${isBesideSql('busy')}))
    ORDER BY coalesce(served.number, 0),
      coalesce((waiting.payload IS NOT NULL) = served.was_task, 0), waiting.seq
    LIMIT 1`);
  // An agent's turn begins where the last answered one ended: what failed is asked again with it, unless one of both is
  // private.
  const claim = database.prepare(`
    UPDATE turns SET state = 'claimed', lease_owner = :owner, lease_until = :until,
      attempts = attempts + 1, error = NULL,
      from_seq = CASE kind WHEN 'command' THEN from_seq ELSE 1 + max(
        (SELECT since_seq FROM groups WHERE groups.jid = turns.jid),
        coalesce((SELECT max(done.upto_seq) FROM turns AS done WHERE done.jid = turns.jid
         AND done.kind = 'agent' AND done.state IN ('answered', 'gave_up')), 0),
        coalesce((SELECT max(failed.upto_seq) FROM turns AS failed WHERE failed.jid = turns.jid
         AND failed.kind = 'agent' AND failed.state = 'failed'
         AND (${isPrivateSql('failed')} OR ${isPrivateSql('turns')})), 0)) END
    WHERE seq = :seq RETURNING ${TURN_COLUMNS}`);
  const serve = database.prepare(`
    INSERT INTO served (folder, kind, number, was_task)
    VALUES (:folder, :kind, 1 + coalesce((SELECT max(number) FROM served), 0), :isTask)
    ON CONFLICT (folder, kind) DO UPDATE SET number = excluded.number, was_task = excluded.was_task`);
  const beside = database.prepare(`
    SELECT seq FROM turns AS waiting
    WHERE state = 'queued' AND kind = 'agent' AND ${isBesideSql('waiting')} ORDER BY seq LIMIT 1`);
  // Looked at before a transaction is begun: most often there is nothing to claim.
  const isWaiting = database
    .prepare(`SELECT 1 FROM turns WHERE state = 'queued' AND kind = ? LIMIT 1`)
    .pluck();
  const waits = (kind: TurnKind): boolean => isWaiting.get(kind) !== undefined;
  const claimBeside = database.transaction((lease: Lease) => {
    const found = Seq.optional().parse(beside.get());
    return found === undefined ? null : parseTurn(claim.get({ ...found, ...lease }));
  });
  const claimNext = database.transaction((kind: TurnKind, lease: Lease) => {
    const found = next.get({ kind });
    if (found === undefined) return null;
    const { seq, folder, is_task: isTask } = Next.parse(found);
    serve.run({ folder, kind, isTask });
    return parseTurn(claim.get({ seq, ...lease }));
  });
  return {
    // A power cut can take an agent's claim back, and nothing else: its turn is queued again then, as every claimed one
    // is after a crash. A command that began must not begin again from its start, whatever happens.
    claimNext(kind, lease) {
      if (!waits(kind)) return null;
      return kind === 'command'
        ? claimNext(kind, lease)
        : withoutWaiting(database, () => claimNext(kind, lease));
    },
    claimBeside: (lease) =>
      waits('agent') ? withoutWaiting(database, () => claimBeside(lease)) : null,
  };
}
