-- A message that says how far a command is: a shell shows it apart from the answer.
ALTER TABLE outbox ADD COLUMN is_progress INTEGER NOT NULL DEFAULT 0;
