-- What the assistant does by itself. A task belongs to a group's folder, as its memory does: it stays
-- when the chat is unregistered, and goes on when the chat is back.
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  folder TEXT NOT NULL COLLATE NOCASE,
  prompt TEXT NOT NULL,
  schedule_kind TEXT NOT NULL CHECK (schedule_kind IN ('cron', 'every', 'at')),
  schedule TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  anchor INTEGER NOT NULL,
  context TEXT NOT NULL CHECK (context IN ('group', 'isolated')),
  if_missed TEXT NOT NULL CHECK (if_missed IN ('run-once', 'skip')),
  state TEXT NOT NULL CHECK (state IN ('active', 'paused', 'done', 'cancelled')),
  next_run INTEGER,
  last_due INTEGER,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_by_due ON tasks (next_run) WHERE state = 'active';
CREATE INDEX tasks_of_folder ON tasks (folder, state);

-- A run that was not skipped is a turn, made in the transaction that moved its task on. Its lease is
-- that turn's lease. The turn can go with its group; the log stays.
CREATE TABLE task_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id INTEGER NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  due_at INTEGER NOT NULL,
  turn_id TEXT UNIQUE,
  fired_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  outcome TEXT CHECK (outcome IN ('answered', 'silent', 'failed', 'gave_up', 'skipped')),
  summary TEXT
) STRICT;
CREATE INDEX task_runs_of_task ON task_runs (task_id, id);
CREATE TRIGGER run_ends_with_its_turn AFTER DELETE ON turns
BEGIN
  UPDATE task_runs SET finished_at = fired_at, outcome = 'skipped', summary = 'the chat was unregistered'
  WHERE turn_id = OLD.id AND finished_at IS NULL;
END;
