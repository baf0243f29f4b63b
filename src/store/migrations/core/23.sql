-- What carries words from outside: a message that somebody else wrote or that has files, and the turns, conversations and
-- tasks of the owner's chats that such words have reached. A turn that is marked asks before it acts on other chats.
ALTER TABLE messages ADD COLUMN is_outside INTEGER NOT NULL DEFAULT 0;
CREATE TABLE outside_marks (
  kind TEXT NOT NULL CHECK (kind IN ('turn', 'conversation', 'task')),
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  marked_at INTEGER NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
