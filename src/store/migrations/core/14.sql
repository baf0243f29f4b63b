-- Messages that inbound filters still look at, as their channel handed them over, in the order in which they came.
-- `problem` is why a filter could not look at one so far.
CREATE TABLE held_messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  jid TEXT NOT NULL REFERENCES groups (jid) ON DELETE CASCADE,
  id TEXT NOT NULL,
  sender TEXT NOT NULL,
  payload TEXT NOT NULL,
  problem TEXT,
  held_at INTEGER NOT NULL,
  UNIQUE (jid, id)
) STRICT;
-- How many messages each filter has dropped, by its reason.
CREATE TABLE dropped_messages (
  filter TEXT NOT NULL,
  reason TEXT NOT NULL,
  messages INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (filter, reason)
) STRICT;
