-- Steps of agents' turns that are under way, as JSON: what a process that was killed leaves of them is recorded by the next
-- one. They go when the run is recorded, and with the turn.
CREATE TABLE open_steps (
  turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  run_started_at INTEGER NOT NULL,
  step TEXT NOT NULL,
  PRIMARY KEY (turn_id, number)
) STRICT, WITHOUT ROWID;
