-- What `claw import` has brought from another assistant. `folder`, below data/imports, has the files from before. A run is a row here from the moment on at which it counts; its
-- history is the numbers between two cursors, since one transaction stores it.
CREATE TABLE imports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  product TEXT NOT NULL,
  version TEXT NOT NULL,
  source TEXT NOT NULL,
  folder TEXT NOT NULL,
  imported_at INTEGER NOT NULL,
  messages_after INTEGER NOT NULL,
  messages_upto INTEGER NOT NULL,
  answers_after INTEGER NOT NULL,
  answers_upto INTEGER NOT NULL
) STRICT;

-- Everything that came, by a name that is the same in each import of the same source: it comes once.
CREATE TABLE import_items (
  item TEXT PRIMARY KEY,
  import INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  target TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX import_items_of_import ON import_items (import);

-- Rows of other tables that an import made or changed, as JSON, so that it can be undone.
CREATE TABLE import_changes (
  import INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  table_name TEXT NOT NULL,
  row_key TEXT NOT NULL,
  before_row TEXT,
  after_row TEXT NOT NULL,
  PRIMARY KEY (import, number)
) STRICT, WITHOUT ROWID;

-- Files that an import made or changed, by their digests; null for a file that was not there. `number` is the name of
-- its copy from before.
CREATE TABLE import_files (
  import INTEGER NOT NULL REFERENCES imports (id) ON DELETE CASCADE,
  place TEXT NOT NULL CHECK (place IN ('project', 'data')),
  path TEXT NOT NULL,
  number INTEGER NOT NULL,
  before_digest TEXT,
  after_digest TEXT NOT NULL,
  PRIMARY KEY (import, place, path)
) STRICT, WITHOUT ROWID;
