-- What an agent did in a turn and what that cost: a row for each time that the turn ran, and one for each step. Both
-- go with the turn. `started_ms` counts from the beginning of the run; `micro_usd` is null where there is no price.
CREATE TABLE turn_runs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
  model TEXT,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  error TEXT,
  left_out INTEGER NOT NULL,
  model_calls INTEGER NOT NULL,
  tool_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL
) STRICT;
CREATE INDEX turn_runs_of_turn ON turn_runs (turn_id);
CREATE TABLE turn_steps (
  run INTEGER NOT NULL REFERENCES turn_runs (seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('model', 'host_tool', 'own_tool')),
  name TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  error TEXT,
  input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  micro_usd INTEGER,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
