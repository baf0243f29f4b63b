-- Questions in the middle of some work, which waits for their answers. Several can be open in one chat: their
-- numbers tell them apart. `sender` is who is asked, by the channel's id; none is the owner. A reply stays until
-- whoever waits has taken it.
CREATE TABLE asks (
  id TEXT PRIMARY KEY,
  jid TEXT NOT NULL REFERENCES groups (jid) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  sender TEXT,
  payload TEXT NOT NULL,
  reply TEXT,
  asked_at INTEGER NOT NULL,
  UNIQUE (jid, number)
) STRICT;
