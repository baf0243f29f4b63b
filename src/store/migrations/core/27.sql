-- Files that went along with answers: the name of the host's copy of each. As in 19.sql, the trigger runs inside the one that
-- copies a message of the outbox; answers that come from elsewhere have no such message.
CREATE TABLE answer_files (
  answer_seq INTEGER NOT NULL REFERENCES answers (seq) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  copy TEXT NOT NULL,
  name TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  PRIMARY KEY (answer_seq, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_files_by_copy ON answer_files (copy);
CREATE TRIGGER answer_has_files AFTER INSERT ON answers
BEGIN
  INSERT INTO answer_files (answer_seq, number, copy, name, size_bytes)
  SELECT NEW.seq, file.key, file.value ->> 'copy', file.value ->> 'name', file.value ->> 'sizeBytes'
  FROM outbox, json_each(outbox.attachments) AS file
  WHERE outbox.seq = (SELECT max(seq) FROM outbox)
  AND outbox.jid = NEW.jid AND outbox.text = NEW.text AND outbox.created_at = NEW.said_at
  AND outbox.attachments <> '[]';
END;
