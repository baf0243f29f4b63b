-- A group is a folder. The owner's own chats share the folder `main`; every other one has one chat.
CREATE UNIQUE INDEX one_chat_per_folder ON groups (folder) WHERE is_main = 0;
CREATE INDEX groups_by_folder ON groups (folder);
CREATE TRIGGER main_is_for_the_owner BEFORE INSERT ON groups
WHEN (NEW.folder = 'main' COLLATE NOCASE) <> (NEW.is_main = 1)
BEGIN
  SELECT RAISE(ABORT, 'the folder main is for the chats of the owner');
END;
CREATE TRIGGER main_stays_for_the_owner BEFORE UPDATE OF folder, is_main ON groups
WHEN (NEW.folder = 'main' COLLATE NOCASE) <> (NEW.is_main = 1)
BEGIN
  SELECT RAISE(ABORT, 'the folder main is for the chats of the owner');
END;

-- What was said before a chat was registered is no context of its turns.
ALTER TABLE groups ADD COLUMN since_seq INTEGER NOT NULL DEFAULT 0;

-- No channel of the assistant that runs now reaches this chat of the owner's.
ALTER TABLE groups ADD COLUMN is_away INTEGER NOT NULL DEFAULT 0;

-- Whose folder it was last, kept when a group is unregistered: its memory is nobody else's.
CREATE TABLE folder_holders (
  folder TEXT PRIMARY KEY COLLATE NOCASE,
  jid TEXT NOT NULL REFERENCES chats (jid),
  held_at INTEGER NOT NULL
) STRICT;
CREATE INDEX folders_of_chat ON folder_holders (jid);
INSERT INTO folder_holders (folder, jid, held_at)
  SELECT folder, jid, registered_at FROM groups WHERE is_main = 0;
CREATE TRIGGER folder_is_held AFTER INSERT ON groups WHEN NEW.is_main = 0
BEGIN
  INSERT INTO folder_holders (folder, jid, held_at)
  VALUES (NEW.folder, NEW.jid, NEW.registered_at)
  ON CONFLICT (folder) DO UPDATE SET jid = NEW.jid, held_at = NEW.registered_at;
END;

-- The owner took the assistant out of this chat: it never registers itself again.
ALTER TABLE chats ADD COLUMN is_dismissed INTEGER NOT NULL DEFAULT 0;

-- Who may call the assistant in a group; a group without rows listens to everybody in it.
CREATE TABLE group_senders (
  jid TEXT NOT NULL REFERENCES groups (jid) ON DELETE CASCADE,
  sender TEXT NOT NULL,
  PRIMARY KEY (jid, sender)
) STRICT, WITHOUT ROWID;

-- Who may write to the assistant directly, on channels that let everybody through.
CREATE TABLE channel_senders (
  channel TEXT NOT NULL,
  sender TEXT NOT NULL,
  PRIMARY KEY (channel, sender)
) STRICT, WITHOUT ROWID;

-- Direct senders that nobody knows, since the owner was last told of them.
CREATE TABLE strangers (
  channel TEXT NOT NULL,
  sender TEXT NOT NULL,
  messages INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  PRIMARY KEY (channel, sender)
) STRICT, WITHOUT ROWID;
