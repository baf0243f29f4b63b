-- What was written down in a folder's CLAUDE.md at each time that it was looked at and had changed.
CREATE TABLE memory_versions (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  folder TEXT NOT NULL,
  text TEXT NOT NULL,
  author TEXT NOT NULL,
  noted_at INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_versions_of_folder ON memory_versions (folder, seq);
