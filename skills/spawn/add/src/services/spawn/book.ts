import { z } from 'zod';
import type { OwnDatabase } from '../../lib/own-database.ts';

/** The state of a sub-agent: at work, or its end. */
export type SpawnState = 'at work' | 'done' | 'failed' | 'stopped' | 'too long';

const Row = z
  .object({
    number: z.int(),
    turn: z.string(),
    folder: z.string(),
    jid: z.string(),
    waits: z.int(),
    profile: z.string().nullable(),
    task: z.string(),
    generation: z.int(),
    state: z.enum(['at work', 'done', 'failed', 'stopped', 'too long']),
    result: z.string().nullable(),
    report: z.string().nullable(),
    started_at: z.int(),
    ended_at: z.int().nullable(),
  })
  .transform(({ waits, started_at: startedAt, ended_at: endedAt, ...row }) => ({
    ...row,
    waits: waits === 1,
    startedAt,
    endedAt,
  }));

/**
 * A sub-agent. `report` is the turn that tells the chat of its result; one that is started there is of the next
 * generation.
 */
export type Spawn = z.output<typeof Row>;

export type NewSpawn = Pick<
  Spawn,
  'turn' | 'folder' | 'jid' | 'waits' | 'profile' | 'task' | 'generation' | 'startedAt'
>;

/** The sub-agents that there were, which outlive the process. */
export interface SpawnBook {
  add(spawn: NewSpawn): Spawn;
  byNumber(number: number): Spawn | null;
  byTurn(turn: string): Spawn | null;
  byReport(turn: string): Spawn | null;
  /** Returns those at work, oldest first. */
  open(): readonly Spawn[];
  /** Returns the newest, newest first. */
  last(limit: number): readonly Spawn[];
  /** Notes why one is about to be stopped. */
  mark(number: number, state: SpawnState): void;
  /** Notes the end; the first one counts. */
  end(
    number: number,
    end: { readonly state: SpawnState; readonly result: string },
    at: number,
  ): void;
  setReport(number: number, turn: string): void;
}

/** Changes of the database, in order. */
export const SPAWNS = [
  `CREATE TABLE spawns (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     turn TEXT NOT NULL UNIQUE,
     folder TEXT NOT NULL,
     jid TEXT NOT NULL,
     waits INTEGER NOT NULL,
     profile TEXT,
     task TEXT NOT NULL,
     state TEXT NOT NULL,
     result TEXT,
     report TEXT,
     started_at INTEGER NOT NULL,
     ended_at INTEGER
   ) STRICT;
   CREATE INDEX spawns_open ON spawns (number) WHERE ended_at IS NULL;
   CREATE INDEX spawns_by_report ON spawns (report);`,
  'ALTER TABLE spawns ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;',
];

/** So many are kept. */
const KEPT = 500;

/** Opens the book on the service's own database. */
export function openSpawnBook(database: OwnDatabase): SpawnBook {
  const select = (rest: string) => database.prepare(`SELECT * FROM spawns ${rest}`);
  const insert = database.prepare(`
    INSERT INTO spawns (turn, folder, jid, waits, profile, task, generation, state, started_at)
    VALUES (:turn, :folder, :jid, :waits, :profile, :task, :generation, 'at work', :startedAt)
    RETURNING *`);
  const trim = database.prepare(
    `DELETE FROM spawns WHERE ended_at IS NOT NULL AND number <= ? - ${KEPT}`,
  );
  const [byNumber, byTurn, byReport] = ['number', 'turn', 'report'].map((key) =>
    select(`WHERE ${key} = ?`),
  );
  const open = select('WHERE ended_at IS NULL ORDER BY number');
  const last = select('ORDER BY number DESC LIMIT ?');
  const mark = database.prepare(
    'UPDATE spawns SET state = ? WHERE number = ? AND ended_at IS NULL',
  );
  const end = database.prepare(
    'UPDATE spawns SET state = ?, result = ?, ended_at = ? WHERE number = ? AND ended_at IS NULL',
  );
  const setReport = database.prepare('UPDATE spawns SET report = ? WHERE number = ?');
  const parse = (row: unknown) => (row === undefined ? null : Row.parse(row));
  return {
    add({ waits, ...spawn }) {
      const added = Row.parse(insert.get({ ...spawn, waits: waits ? 1 : 0 }));
      trim.run(added.number);
      return added;
    },
    byNumber: (number) => parse(byNumber?.get(number)),
    byTurn: (turn) => parse(byTurn?.get(turn)),
    byReport: (turn) => parse(byReport?.get(turn)),
    open: () => open.all().map((row) => Row.parse(row)),
    last: (limit) => last.all(limit).map((row) => Row.parse(row)),
    mark: (number, state) => void mark.run(state, number),
    end: (number, { state, result }, at) => void end.run(state, result, at, number),
    setReport: (number, turn) => void setReport.run(turn, number),
  };
}
