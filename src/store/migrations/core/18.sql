-- The message in which a running turn shows its answer so far. The end of the turn replaces its text. Where
-- something came after it in the chat, the answer is a message of its own, and this one is taken away.
CREATE TABLE drafts (
  message_id TEXT PRIMARY KEY,
  turn_id TEXT NOT NULL UNIQUE REFERENCES turns (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  -- What was there when it began; null where the channel shows it below whatever comes.
  after_seq INTEGER,
  upto_seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The draft that gets this message's text in place of its own.
ALTER TABLE outbox ADD COLUMN replaces TEXT;

-- The emoji that a person has on a message of the assistant's now.
CREATE TABLE reactions (
  message_id TEXT NOT NULL REFERENCES outbox (message_id) ON DELETE CASCADE,
  sender TEXT NOT NULL,
  is_owner INTEGER NOT NULL,
  emoji TEXT NOT NULL,
  reacted_at INTEGER NOT NULL,
  PRIMARY KEY (message_id, sender)
) STRICT, WITHOUT ROWID;
CREATE INDEX reactions_by_time ON reactions (reacted_at);
