import { z } from 'zod';
import type { HostLog } from '../../host/contracts/log.ts';
import type { OwnDatabase } from '../../lib/own-database.ts';
import type { TurnRun } from '../../store/store.ts';
import { type LearningSignal, TASK_TYPES, type TaskType, type Trajectory } from './stage.ts';

/** Tables of the pipeline's own database. They hold no word of what was said. */
export const MIGRATIONS = [
  `CREATE TABLE turns (
     id TEXT PRIMARY KEY, jid TEXT NOT NULL, is_task INTEGER NOT NULL,
     type TEXT NOT NULL, complexity REAL NOT NULL, why TEXT NOT NULL, decided_at INTEGER NOT NULL,
     model TEXT, micro_usd INTEGER, state TEXT) STRICT;
   CREATE INDEX turns_of_type ON turns (type, decided_at);
   CREATE INDEX turns_of_chat ON turns (jid, decided_at);
   CREATE INDEX turns_open ON turns (decided_at) WHERE state IS NULL;
   CREATE TABLE signals (
     turn TEXT NOT NULL, voter TEXT NOT NULL, feedback_type TEXT NOT NULL, value REAL NOT NULL,
     PRIMARY KEY (turn, voter)) STRICT, WITHOUT ROWID;
   CREATE TABLE seen (only INTEGER PRIMARY KEY CHECK (only = 1), at INTEGER NOT NULL) STRICT;`,
];

/** Models change behind their names: what is older is forgotten. */
export const KEPT_DAYS = 180;
const DAY_MS = 86_400_000;
/** A turn that has no record by then never gets one. */
const OPEN_MS = 2 * DAY_MS;
/** So many turns of a type are learned from, the newest. */
const MOST = 2_000;

/** A decision, as it is made. */
export type NewTurn = {
  readonly id: string;
  readonly jid: string;
  readonly isTask: boolean;
  readonly type: TaskType;
  readonly complexity: number;
  readonly why: string;
};

/** A decision and its turn. */
export type KnownTurn = NewTurn & { readonly model: string | null };

/** Decisions, what became of their turns, and feedback. */
export interface Ledger {
  decided(turn: NewTurn): void;
  /** Takes over what the record of turns holds by now of turns that have ended. */
  settle(): void;
  /** Notes what somebody says of a turn now; null takes it back. False where the pipeline does not know the turn. */
  signal(turn: string, voter: string, signal: LearningSignal | null): boolean;
  /** Returns the turns of a type that a model answered, newest first. */
  of(type: TaskType): readonly Trajectory[];
  /** Returns the last answer in a chat that was no task's; null for none. */
  lastAnswer(jid: string): KnownTurn | null;
  /** Returns the last decision in a chat; null for none. */
  last(jid: string): KnownTurn | null;
  ratings(): number;
  /** The moment until which reactions were seen; null at the first start. */
  readonly seen: number | null;
  /** Notes that reactions are seen until now. */
  see(): void;
}

const Turn = z
  .object({
    id: z.string(),
    jid: z.string(),
    is_task: z.int(),
    type: z.enum(TASK_TYPES),
    complexity: z.number(),
    why: z.string(),
    model: z.string().nullable(),
  })
  .transform(({ is_task, ...row }) => ({ ...row, isTask: is_task === 1 }));

const Signals = z.array(
  z
    .object({ feedback_type: z.enum(['reaction', 'command']), value: z.number().min(-1).max(1) })
    .transform(({ feedback_type: feedbackType, value }) => ({ feedbackType, value })),
);

const Row = z
  .object({
    type: z.enum(TASK_TYPES),
    complexity: z.number().min(0).max(1),
    model: z.string(),
    state: z.string(),
    micro_usd: z.int().nullable(),
    decided_at: z.int(),
    signals: z.string(),
  })
  .transform(({ signals, ...row }) => ({ ...row, signals: Signals.parse(JSON.parse(signals)) }))
  .transform(({ micro_usd: cost, decided_at: decidedAt, ...row }) => ({
    ...row,
    decidedAt,
    costUsd: cost === null ? null : cost / 1_000_000,
  }));

function trajectoryOf(row: unknown): Trajectory | null {
  try {
    return Row.parse(row);
  } catch {
    return null;
  }
}

const Id = z.object({ id: z.string() });
const Number_ = z.object({ number: z.int() }).transform(({ number }) => number);

/** Opens the ledger on its database. */
export function openLedger(
  database: OwnDatabase,
  runsOf: (turn: string) => readonly TurnRun[],
  now: () => number,
  log: HostLog,
): Ledger {
  const decide = database.prepare(`
    INSERT INTO turns (id, jid, is_task, type, complexity, why, decided_at)
    VALUES (:id, :jid, :isTask, :type, :complexity, :why, :now)
    ON CONFLICT (id) DO UPDATE SET type = excluded.type, complexity = excluded.complexity, why = excluded.why,
      decided_at = excluded.decided_at, model = NULL, micro_usd = NULL, state = NULL`);
  const open = database.prepare('SELECT id FROM turns WHERE state IS NULL AND decided_at >= ?');
  const close = database.prepare(
    'UPDATE turns SET model = :model, micro_usd = :cost, state = :state WHERE id = :id',
  );
  const forgetSignals = database.prepare(
    'DELETE FROM signals WHERE turn IN (SELECT id FROM turns WHERE decided_at < ?)',
  );
  const forgetTurns = database.prepare('DELETE FROM turns WHERE decided_at < ?');
  const knows = database.prepare('SELECT id FROM turns WHERE id = ?');
  const put = database.prepare(`
    INSERT INTO signals VALUES (:turn, :voter, :feedbackType, :value)
    ON CONFLICT (turn, voter) DO UPDATE SET feedback_type = excluded.feedback_type, value = excluded.value`);
  const take = database.prepare('DELETE FROM signals WHERE turn = ? AND voter = ?');
  const ofType = database.prepare(`
    SELECT type, complexity, model, state, micro_usd, decided_at,
      (SELECT json_group_array(json_object('feedback_type', feedback_type, 'value', value))
       FROM signals WHERE signals.turn = turns.id) AS signals
    FROM turns WHERE type = ? AND model IS NOT NULL ORDER BY decided_at DESC LIMIT ${MOST}`);
  const lastOf = (where: string) =>
    database.prepare(
      `SELECT * FROM turns WHERE jid = ? AND ${where} ORDER BY decided_at DESC, rowid DESC LIMIT 1`,
    );
  const lastAnswer = lastOf("is_task = 0 AND state = 'answered'");
  const last = lastOf('TRUE');
  const count = database.prepare('SELECT count(*) AS number FROM signals');
  const readSeen = database.prepare('SELECT at AS number FROM seen');
  const see = database.prepare(
    'INSERT INTO seen VALUES (1, :now) ON CONFLICT DO UPDATE SET at = excluded.at',
  );
  const turnOf = (row: unknown) => Turn.safeParse(row).data ?? null;
  let isTold = false;

  /** Leaves out what another version, or a hand, has written: one such turn ends no learning. */
  function trajectoriesOf(rows: readonly unknown[]): readonly Trajectory[] {
    const turns = rows.flatMap((row) => trajectoryOf(row) ?? []);
    const skipped = rows.length - turns.length;
    if (skipped > 0 && !isTold)
      log.warn('turns that cannot be read are not learned from', { skipped });
    isTold ||= skipped > 0;
    return turns;
  }

  function settle(): void {
    for (const row of open.all(now() - OPEN_MS)) {
      const { id } = Id.parse(row);
      // A turn that was run again has several runs, and cost what all of them did.
      const runs = runsOf(id).filter(({ turnId }) => turnId === id);
      const end = runs.at(-1);
      if (end === undefined) continue;
      const isUnknown = runs.some(({ unpricedCalls }) => unpricedCalls > 0);
      const cost = runs.reduce((sum, { microUsd }) => sum + microUsd, 0);
      close.run({ id, model: end.model, cost: isUnknown ? null : cost, state: end.state });
    }
    const oldest = now() - KEPT_DAYS * DAY_MS;
    forgetSignals.run(oldest);
    forgetTurns.run(oldest);
  }

  return {
    decided: (turn) => void decide.run({ ...turn, isTask: Number(turn.isTask), now: now() }),
    settle: database.transaction(settle),
    signal(turn, voter, signal) {
      if (knows.get(turn) === undefined) return false;
      if (signal === null) take.run(turn, voter);
      else put.run({ turn, voter, ...signal });
      return true;
    },
    of: (type) => trajectoriesOf(ofType.all(type)),
    lastAnswer: (jid) => turnOf(lastAnswer.get(jid)),
    last: (jid) => turnOf(last.get(jid)),
    ratings: () => Number_.parse(count.get()),
    get seen() {
      return Number_.optional().parse(readSeen.get()) ?? null;
    },
    see: () => void see.run({ now: now() }),
  };
}
