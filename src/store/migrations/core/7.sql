-- Whose turn it is: who was served longest ago is next. Numbers, because clocks go backwards.
CREATE TABLE served (
  folder TEXT NOT NULL COLLATE NOCASE,
  kind TEXT NOT NULL CHECK (kind IN ('agent', 'command')),
  number INTEGER NOT NULL,
  was_task INTEGER NOT NULL,
  PRIMARY KEY (folder, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX served_by_number ON served (number);
