-- Answers that are the host's own words from here on: of commands, of their progress, and questions with choices. What is
-- remembered of a chat leaves them out. The trigger runs inside the one that copies a message of the outbox, so that
-- message is its last row.
CREATE TABLE host_answers (
  seq INTEGER PRIMARY KEY REFERENCES answers (seq) ON DELETE CASCADE
) STRICT;
CREATE TRIGGER answer_is_the_hosts AFTER INSERT ON answers
WHEN EXISTS (
  SELECT 1 FROM outbox LEFT JOIN turns ON turns.id = outbox.turn_id
  WHERE outbox.seq = (SELECT max(seq) FROM outbox)
  AND (outbox.is_progress = 1 OR outbox.choices IS NOT NULL OR turns.kind = 'command'))
BEGIN
  INSERT INTO host_answers (seq) VALUES (NEW.seq);
END;
