import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { NewTurnRun, TurnStep } from './turn-step.ts';

/** A step as far as it has come, of a run that has not ended. */
export type OpenStep = {
  readonly turnId: string;
  readonly runStartedAt: number;
  /** Its place among the steps of the run. */
  readonly number: number;
  readonly step: TurnStep;
};

/** Steps of runs that have not ended. */
export interface OpenSteps {
  /** Notes a step, in place of what was noted of it before. */
  note(step: OpenStep): void;
  /** Forgets those of a turn. */
  forget(turnId: string): void;
  /** Returns the runs that they are of, as far as these came. */
  runs(end: Pick<NewTurnRun, 'state' | 'error'>): readonly NewTurnRun[];
}

const Count = z.int().nonnegative();

const Step = z.object({
  kind: z.enum(['model', 'host_tool', 'own_tool']),
  name: z.string(),
  startedMs: Count,
  durationMs: Count,
  error: z.string().nullable(),
  inputTokens: Count,
  cacheWriteTokens: Count,
  cacheReadTokens: Count,
  outputTokens: Count,
  microUsd: Count.nullable(),
});

const Row = z.object({
  turn_id: z.string(),
  run_started_at: z.int(),
  step: z.string().transform(stepOf),
});

/** Returns the statements for steps that are under way. */
export function openOpenSteps(database: Database): OpenSteps {
  const upsert = database.prepare(`
    INSERT INTO open_steps VALUES (:turnId, :number, :runStartedAt, :step)
    ON CONFLICT (turn_id, number)
    DO UPDATE SET run_started_at = excluded.run_started_at, step = excluded.step`);
  // What an earlier run of the turn left is of no use to this one.
  const forgetOthers = database.prepare(
    'DELETE FROM open_steps WHERE turn_id = :turnId AND run_started_at <> :runStartedAt',
  );
  const forget = database.prepare('DELETE FROM open_steps WHERE turn_id = ?');
  const all = database.prepare('SELECT * FROM open_steps ORDER BY turn_id, number');
  return {
    note({ step, number, ...run }) {
      withoutSync(database, () => {
        if (number === 0) forgetOthers.run(run);
        upsert.run({ ...run, number, step: JSON.stringify(step) });
      });
    },
    forget: (turnId) => void forget.run(turnId),
    runs(end) {
      const rows = all.all().map((row) => Row.parse(row));
      const byTurn = Map.groupBy(rows, ({ turn_id: turnId }) => turnId);
      return [...byTurn].map(([turnId, noted]) => {
        const startedAt = noted[0]?.run_started_at ?? 0;
        const steps = noted.flatMap(({ step }) => step ?? []);
        const model = steps.find(({ kind, error }) => kind === 'model' && error === null);
        const lengths = steps.map(({ startedMs, durationMs }) => startedMs + durationMs);
        const endedAt = startedAt + Math.max(0, ...lengths);
        return {
          turnId,
          model: model?.name ?? null,
          startedAt,
          endedAt,
          leftOut: 0,
          steps,
          ...end,
        };
      });
    },
  };
}

/** Returns null for what is no step: a damaged row costs no start. */
function stepOf(text: string): TurnStep | null {
  try {
    return Step.parse(JSON.parse(text));
  } catch {
    return null; // It is missing in the record, and nowhere else.
  }
}

/**
 * Writes without waiting for the disk: it outlives the process, which is what it is for, and not a power cut. The next
 * commit that waits has it on disk too.
 */
function withoutSync(database: Database, write: () => void): void {
  if (database.inTransaction) {
    write();
    return;
  }
  database.pragma('synchronous = NORMAL');
  try {
    database.transaction(write)();
  } finally {
    database.pragma('synchronous = FULL');
  }
}
