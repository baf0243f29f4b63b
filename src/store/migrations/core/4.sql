-- What the assistant said in a chat. The outbox is for sending and goes with the registration; this
-- stays, as what was said to it does.
CREATE TABLE answers (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  jid TEXT NOT NULL REFERENCES chats (jid),
  text TEXT NOT NULL,
  said_at INTEGER NOT NULL
) STRICT;
CREATE INDEX answers_of_chat ON answers (jid, seq);
INSERT INTO answers (jid, text, said_at) SELECT jid, text, created_at FROM outbox ORDER BY seq;
CREATE TRIGGER answer_is_kept AFTER INSERT ON outbox
BEGIN
  INSERT INTO answers (jid, text, said_at) VALUES (NEW.jid, NEW.text, NEW.created_at);
END;

-- The words of all chats are in one index. Each row's chat is a word of it too: asking for both meets
-- in the rows of that chat, however common the other word is elsewhere. It stands in hexadecimal
-- digits, since the index takes an address apart at its dots and dashes.
CREATE VIEW searched_messages AS SELECT seq, 'c' || hex(jid) AS chat, text FROM messages;
CREATE VIRTUAL TABLE message_words USING fts5 (
  chat, text, content = 'searched_messages', content_rowid = 'seq',
  tokenize = 'unicode61 remove_diacritics 2');
CREATE VIEW searched_answers AS SELECT seq, 'c' || hex(jid) AS chat, text FROM answers;
CREATE VIRTUAL TABLE answer_words USING fts5 (
  chat, text, content = 'searched_answers', content_rowid = 'seq',
  tokenize = 'unicode61 remove_diacritics 2');

-- What is deleted leaves no trace in the index.
INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1);
INSERT INTO answer_words (answer_words, rank) VALUES ('secure-delete', 1);
INSERT INTO message_words (message_words) VALUES ('rebuild');
INSERT INTO answer_words (answer_words) VALUES ('rebuild');

-- Messages are indexed many at a time, which costs a tenth of one at a time: those up to here are.
-- A search begins with indexing the rest.
CREATE TABLE indexed_messages (upto_seq INTEGER NOT NULL) STRICT;
INSERT INTO indexed_messages SELECT coalesce(max(seq), 0) FROM messages;
CREATE TRIGGER messages_are_indexed AFTER INSERT ON messages WHEN NEW.seq % 1024 = 0
BEGIN
  INSERT INTO message_words (rowid, chat, text)
    SELECT seq, chat, text FROM searched_messages
    WHERE seq > (SELECT upto_seq FROM indexed_messages) ORDER BY seq;
  UPDATE indexed_messages SET upto_seq = NEW.seq;
END;
CREATE TRIGGER message_is_unindexed AFTER DELETE ON messages
WHEN OLD.seq <= (SELECT upto_seq FROM indexed_messages)
BEGIN
  INSERT INTO message_words (message_words, rowid, chat, text)
  VALUES ('delete', OLD.seq, 'c' || hex(OLD.jid), OLD.text);
END;
CREATE TRIGGER message_is_reindexed AFTER UPDATE OF jid, text ON messages
WHEN OLD.seq <= (SELECT upto_seq FROM indexed_messages)
BEGIN
  INSERT INTO message_words (message_words, rowid, chat, text)
  VALUES ('delete', OLD.seq, 'c' || hex(OLD.jid), OLD.text);
  INSERT INTO message_words (rowid, chat, text) VALUES (NEW.seq, 'c' || hex(NEW.jid), NEW.text);
END;
CREATE TRIGGER answer_is_indexed AFTER INSERT ON answers
BEGIN
  INSERT INTO answer_words (rowid, chat, text) VALUES (NEW.seq, 'c' || hex(NEW.jid), NEW.text);
END;
CREATE TRIGGER answer_is_unindexed AFTER DELETE ON answers
BEGIN
  INSERT INTO answer_words (answer_words, rowid, chat, text)
  VALUES ('delete', OLD.seq, 'c' || hex(OLD.jid), OLD.text);
END;
