-- Chats that exist on a channel. Unregistered ones are names for the owner to pick from.
CREATE TABLE chats (
  jid TEXT PRIMARY KEY,
  channel TEXT NOT NULL,
  name TEXT,
  is_direct INTEGER NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

-- Chats that the assistant takes part in. That a folder has one holder is checked when registering.
CREATE TABLE groups (
  jid TEXT PRIMARY KEY REFERENCES chats (jid),
  folder TEXT NOT NULL COLLATE NOCASE,
  name TEXT NOT NULL,
  needs_trigger INTEGER NOT NULL,
  trigger_word TEXT,
  is_main INTEGER NOT NULL,
  registered_at INTEGER NOT NULL
) STRICT;

-- `seq` is the cursor: time stamps of the far end never order anything.
CREATE TABLE messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  jid TEXT NOT NULL REFERENCES chats (jid),
  id TEXT NOT NULL,
  sender TEXT NOT NULL,
  sender_name TEXT,
  is_owner INTEGER NOT NULL,
  text TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  stored_at INTEGER NOT NULL,
  UNIQUE (jid, id)
) STRICT;
CREATE INDEX messages_of_chat ON messages (jid, seq);

CREATE TABLE turns (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  jid TEXT NOT NULL REFERENCES groups (jid) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('agent', 'command')),
  state TEXT NOT NULL
    CHECK (state IN ('queued', 'claimed', 'answered', 'failed', 'gave_up', 'resuming')),
  from_seq INTEGER NOT NULL,
  upto_seq INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_until INTEGER,
  error TEXT,
  payload TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX turns_by_state ON turns (state, seq);
CREATE INDEX turns_of_chat ON turns (jid, seq);

-- Nothing is ever sent to a chat that is not a registered group: the reference holds that.
CREATE TABLE outbox (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id TEXT NOT NULL UNIQUE,
  jid TEXT NOT NULL REFERENCES groups (jid) ON DELETE CASCADE,
  text TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued', 'sending', 'sent', 'unknown', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  repeats INTEGER NOT NULL DEFAULT 0,
  next_try_at INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX outbox_by_state ON outbox (state, jid, seq);

CREATE TABLE sessions (
  folder TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- The one open yes-or-no question of a chat.
CREATE TABLE questions (
  jid TEXT PRIMARY KEY REFERENCES groups (jid) ON DELETE CASCADE,
  payload TEXT NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
