import { z } from 'zod';
import type { HostLog } from '../../host/contracts/log.ts';
import type { ServiceStore } from '../../host/contracts/service.ts';
import type { OwnDatabase } from '../../lib/own-database.ts';
import type { TurnRun } from '../../store/store.ts';
import { hasShape, Shape } from './shape.ts';
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
  `ALTER TABLE turns ADD COLUMN shape TEXT;
   ALTER TABLE turns ADD COLUMN fits_shape INTEGER;
   ALTER TABLE turns ADD COLUMN tool_calls INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE turns ADD COLUMN tool_failures INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE answers_read (jid TEXT PRIMARY KEY, upto_seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
];

/** Models change behind their names: what is older is forgotten. */
export const KEPT_DAYS = 180;
const DAY_MS = 86_400_000;
/** A turn that has no record by then never gets one. */
const OPEN_MS = 2 * DAY_MS;
/** Answers of a chat that are read at once, to find one; the rest is read with the next turns. */
const PAGE = 200;
const MOST_PAGES = 5;
/** The answer is stored right after the end of its turn. */
const STORED_MS = 2_000;
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
  /** The shape that its answer is asked to have; null for none. */
  readonly shape: Shape | null;
};

/** A decision and its turn. */
export type KnownTurn = Omit<NewTurn, 'shape'> & { readonly model: string | null };

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
    fits_shape: z.int().nullable(),
    tool_calls: z.int().min(0),
    tool_failures: z.int().min(0),
  })
  .transform(({ signals, ...row }) => ({ ...row, signals: Signals.parse(JSON.parse(signals)) }))
  .transform(
    ({
      micro_usd: cost,
      decided_at: decidedAt,
      fits_shape,
      tool_calls,
      tool_failures,
      ...row
    }) => ({
      ...row,
      fitsShape: fits_shape === null ? null : fits_shape === 1,
      toolCalls: tool_calls,
      toolFailures: Math.min(tool_failures, tool_calls),
      decidedAt,
      costUsd: cost === null ? null : cost / 1_000_000,
    }),
  );

function trajectoryOf(row: unknown): Trajectory | null {
  try {
    return Row.parse(row);
  } catch {
    return null;
  }
}

const Open = z.object({ id: z.string(), jid: z.string(), shape: z.string().nullable() });
const Upto = z.object({ upto_seq: z.int() });
const Number_ = z.object({ number: z.int() }).transform(({ number }) => number);

/** Opens the ledger on its database. */
export function openLedger(
  database: OwnDatabase,
  { turnRuns, said }: Pick<ServiceStore, 'turnRuns' | 'said'>,
  now: () => number,
  log: HostLog,
): Ledger {
  const decide = database.prepare(`
    INSERT INTO turns (id, jid, is_task, type, complexity, why, decided_at, shape)
    VALUES (:id, :jid, :isTask, :type, :complexity, :why, :now, :shape)
    ON CONFLICT (id) DO UPDATE SET type = excluded.type, complexity = excluded.complexity, why = excluded.why,
      decided_at = excluded.decided_at, shape = excluded.shape, model = NULL, micro_usd = NULL, state = NULL`);
  const open = database.prepare(
    'SELECT id, jid, shape FROM turns WHERE state IS NULL AND decided_at >= ? ORDER BY decided_at, rowid',
  );
  const close = database.prepare(
    `UPDATE turns SET model = :model, micro_usd = :cost, state = :state, fits_shape = :fitsShape,
       tool_calls = :toolCalls, tool_failures = :toolFailures WHERE id = :id`,
  );
  const readUpto = database.prepare('SELECT upto_seq FROM answers_read WHERE jid = ?');
  const setUpto = database.prepare(
    'INSERT INTO answers_read VALUES (:jid, :seq) ON CONFLICT (jid) DO UPDATE SET upto_seq = excluded.upto_seq',
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
    SELECT type, complexity, model, state, micro_usd, decided_at, fits_shape, tool_calls, tool_failures,
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

  /** Returns the last answer that a chat got in a run; null where it got none, or it is too far behind to be read now. */
  function answerIn(jid: string, { startedAt, endedAt }: TurnRun): string | null {
    let answer: string | null = null;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const seq = Upto.optional().parse(readUpto.get(jid))?.upto_seq ?? 0;
      const answers = said.after({ jid, kind: 'answer', seq }, PAGE);
      const until = answers.filter(({ saidAt }) => saidAt <= endedAt + STORED_MS);
      const last = until.at(-1);
      if (last === undefined) return answer;
      setUpto.run({ jid, seq: last.seq });
      answer = until.findLast(({ saidAt }) => saidAt >= startedAt)?.text ?? answer;
      if (until.length < PAGE) return answer;
    }
    return null;
  }

  function checksOf(runs: readonly TurnRun[], end: TurnRun, { jid, shape }: z.output<typeof Open>) {
    const steps = runs.flatMap(({ seq }) => turnRuns.stepsOf(seq));
    const tools = steps.filter(({ kind }) => kind !== 'model');
    const asked = shape === null ? undefined : Shape.safeParse(JSON.parse(shape)).data;
    const answer = asked === undefined || end.state !== 'answered' ? null : answerIn(jid, end);
    return {
      fitsShape: answer === null || asked === undefined ? null : Number(hasShape(answer, asked)),
      toolCalls: tools.length,
      toolFailures: tools.filter(({ error }) => error !== null).length,
    };
  }

  function settle(): void {
    for (const row of open.all(now() - OPEN_MS)) {
      const turn = Open.parse(row);
      const { id } = turn;
      // A turn that was run again has several runs, and cost what all of them did.
      const runs = turnRuns.ofTurn(id).filter(({ turnId }) => turnId === id);
      const end = runs.at(-1);
      if (end === undefined) continue;
      const isUnknown = runs.some(({ unpricedCalls }) => unpricedCalls > 0);
      const cost = runs.reduce((sum, { microUsd }) => sum + microUsd, 0);
      const checks = checksOf(runs, end, turn);
      close.run({
        ...checks,
        id,
        model: end.model,
        cost: isUnknown ? null : cost,
        state: end.state,
      });
    }
    const oldest = now() - KEPT_DAYS * DAY_MS;
    forgetSignals.run(oldest);
    forgetTurns.run(oldest);
  }

  return {
    decided: ({ shape, isTask, ...turn }) =>
      void decide.run({
        ...turn,
        isTask: Number(isTask),
        shape: shape === null ? null : JSON.stringify(shape),
        now: now(),
      }),
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
