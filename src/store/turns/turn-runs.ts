import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { type OpenStep, openOpenSteps } from './open-steps.ts';
import type { NewTurnRun, RunFacts, StepTokens, TurnStep } from './turn-step.ts';

/** One time that an agent's turn ran, all its steps together. */
export type TurnRun = RunFacts &
  StepTokens & {
    readonly seq: number;
    readonly folder: string;
    readonly chatName: string;
    readonly modelCalls: number;
    readonly toolCalls: number;
    readonly microUsd: number;
    /** Calls of a model without a known price, which the money leaves out. */
    readonly unpricedCalls: number;
  };

/** The part of the record that a read-only connection has, too. */
export interface TurnRunReader {
  /** Returns the newest runs first, of all chats or of one folder. */
  newest(limit: number, folder?: string): readonly TurnRun[];
  /** Returns the runs of the turns whose ids begin so, oldest first, at most 50. */
  ofTurn(idPrefix: string): readonly TurnRun[];
  stepsOf(seq: number): readonly TurnStep[];
}

export interface TurnRuns extends TurnRunReader {
  /** Adds a run, and deletes those that are too old to be kept. */
  add(run: NewTurnRun): void;
  /** Notes a step of a run that is under way, so that it outlives the process; `add` takes the run's place. */
  note(step: OpenStep): void;
  /** Records the runs that another process left under way. */
  addCutOff(): void;
}

/** The end of a run whose process ended before it. */
const CUT_OFF = { state: 'cut_off', error: 'ASSISTANT_ENDED' } as const;

/** So many runs are kept with their steps, of all chats together; sums of days stay in `usage`. */
const KEPT_RUNS = 10_000;
const MOST_OF_A_TURN = 50;

const Tokens = z.object({
  input_tokens: z.int(),
  cache_write_tokens: z.int(),
  cache_read_tokens: z.int(),
  output_tokens: z.int(),
});

const tokensOf = (row: z.output<typeof Tokens>): StepTokens => ({
  inputTokens: row.input_tokens,
  cacheWriteTokens: row.cache_write_tokens,
  cacheReadTokens: row.cache_read_tokens,
  outputTokens: row.output_tokens,
});

const RunRow = Tokens.extend({
  seq: z.int(),
  turn_id: z.string(),
  folder: z.string(),
  name: z.string(),
  model: z.string().nullable(),
  started_at: z.int(),
  ended_at: z.int(),
  state: z.string(),
  error: z.string().nullable(),
  left_out: z.int(),
  model_calls: z.int(),
  tool_calls: z.int(),
  micro_usd: z.int(),
  unpriced_calls: z.int(),
}).transform((row) => ({
  ...tokensOf(row),
  seq: row.seq,
  turnId: row.turn_id,
  folder: row.folder,
  chatName: row.name,
  model: row.model,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  state: row.state,
  error: row.error,
  leftOut: row.left_out,
  modelCalls: row.model_calls,
  toolCalls: row.tool_calls,
  microUsd: row.micro_usd,
  unpricedCalls: row.unpriced_calls,
}));

const StepRow = Tokens.extend({
  kind: z.enum(['model', 'host_tool', 'own_tool']),
  name: z.string(),
  started_ms: z.int(),
  duration_ms: z.int(),
  error: z.string().nullable(),
  micro_usd: z.int().nullable(),
}).transform((row) => ({
  ...tokensOf(row),
  kind: row.kind,
  name: row.name,
  startedMs: row.started_ms,
  durationMs: row.duration_ms,
  error: row.error,
  microUsd: row.micro_usd,
}));

const RUNS = `
  SELECT turn_runs.*, groups.folder, groups.name FROM turn_runs
  JOIN turns ON turns.id = turn_runs.turn_id JOIN groups ON groups.jid = turns.jid`;

/** Returns the record's statements, on a database that has it. */
export function openTurnRuns(database: Database): TurnRuns {
  const addRun = database.prepare(`
    INSERT INTO turn_runs (turn_id, model, started_at, ended_at, state, error, left_out, model_calls, tool_calls,
      input_tokens, cache_write_tokens, cache_read_tokens, output_tokens, micro_usd, unpriced_calls)
    VALUES (:turnId, :model, :startedAt, :endedAt, :state, :error, :leftOut, :modelCalls, :toolCalls,
      :inputTokens, :cacheWriteTokens, :cacheReadTokens, :outputTokens, :microUsd, :unpricedCalls)`);
  const addStep = database.prepare(`
    INSERT INTO turn_steps VALUES (:run, :number, :kind, :name, :startedMs, :durationMs, :error,
      :inputTokens, :cacheWriteTokens, :cacheReadTokens, :outputTokens, :microUsd)`);
  const prune = database.prepare('DELETE FROM turn_runs WHERE seq <= ?');
  const openSteps = openOpenSteps(database);
  const add = database.transaction(({ steps, ...facts }: NewTurnRun) => {
    openSteps.forget(facts.turnId);
    const run = addRun.run({ ...facts, ...sumOf(steps) }).lastInsertRowid;
    for (const [number, step] of steps.entries()) addStep.run({ ...step, run, number });
    prune.run(Number(run) - KEPT_RUNS);
  });
  return {
    ...createTurnRunReader(database),
    add: (run) => void add(run),
    note: openSteps.note,
    addCutOff: database.transaction(() => openSteps.runs(CUT_OFF).forEach((run) => void add(run))),
  };
}

/** Returns what reads the record. */
export function createTurnRunReader(database: Database): TurnRunReader {
  const newest = database.prepare(`${RUNS} ORDER BY turn_runs.seq DESC LIMIT :limit`);
  const newestOf = database.prepare(
    `${RUNS} WHERE groups.folder = :folder ORDER BY turn_runs.seq DESC LIMIT :limit`,
  );
  const ofTurn = database.prepare(`
    ${RUNS} WHERE substr(turn_runs.turn_id, 1, length(:prefix)) = :prefix
    ORDER BY turn_runs.seq LIMIT ${MOST_OF_A_TURN}`);
  const steps = database.prepare('SELECT * FROM turn_steps WHERE run = ? ORDER BY number');
  return {
    newest(limit, folder) {
      const rows = folder === undefined ? newest.all({ limit }) : newestOf.all({ limit, folder });
      return rows.map((row) => RunRow.parse(row));
    },
    ofTurn: (prefix) => ofTurn.all({ prefix }).map((row) => RunRow.parse(row)),
    stepsOf: (seq) => steps.all(seq).map((row) => StepRow.parse(row)),
  };
}

function sumOf(steps: readonly TurnStep[]) {
  const calls = steps.filter(({ kind }) => kind === 'model');
  const sum = (of: (step: TurnStep) => number) =>
    calls.reduce((total, step) => total + of(step), 0);
  return {
    modelCalls: calls.length,
    toolCalls: steps.length - calls.length,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    cacheWriteTokens: sum(({ cacheWriteTokens }) => cacheWriteTokens),
    cacheReadTokens: sum(({ cacheReadTokens }) => cacheReadTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
    microUsd: sum(({ microUsd }) => microUsd ?? 0),
    unpricedCalls: sum(({ microUsd, error }) => Number(microUsd === null && error === null)),
  };
}
