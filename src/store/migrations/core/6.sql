-- Files that came with messages. What they hold is fetched when somebody asks for it.
CREATE TABLE attachments (
  message_seq INTEGER NOT NULL REFERENCES messages (seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  mime_type TEXT,
  size_bytes INTEGER,
  name TEXT,
  PRIMARY KEY (message_seq, number)
) STRICT, WITHOUT ROWID;

-- Messages that came too late to be answered, since the owner was last told of them.
CREATE TABLE late_messages (
  jid TEXT PRIMARY KEY REFERENCES groups (jid) ON DELETE CASCADE,
  messages INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The chat that this one turned out to be: the same person under another address.
ALTER TABLE chats ADD COLUMN merged_into TEXT REFERENCES chats (jid);
CREATE TRIGGER answer_is_reindexed AFTER UPDATE OF jid ON answers
BEGIN
  INSERT INTO answer_words (answer_words, rowid, chat, text)
  VALUES ('delete', OLD.seq, 'c' || hex(OLD.jid), OLD.text);
  INSERT INTO answer_words (rowid, chat, text) VALUES (NEW.seq, 'c' || hex(NEW.jid), NEW.text);
END;
