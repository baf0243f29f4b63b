-- A question that a command ends with is a row like those that work waits for. It outlives the process that
-- asked. What was open in the old table goes on under an id of its own; that table takes no more.
ALTER TABLE asks ADD COLUMN is_closing INTEGER NOT NULL DEFAULT 0;
INSERT INTO asks (id, jid, number, sender, payload, is_closing, asked_at)
SELECT 'question:' || jid, jid,
  1 + coalesce((SELECT max(number) FROM asks WHERE asks.jid = questions.jid), 0), NULL,
  json_object(
    'text', replace(coalesce(payload ->> 'text', ''), ' Say yes or no.', ''),
    'choices', json(coalesce(payload -> 'choices', '[]')),
    'continuation', json_object(
      'command', payload ->> 'command', 'data', json(payload -> 'data'), 'declined', payload ->> 'declined',
      'mayBeForAll', json(coalesce(payload -> 'mayBeForAll', 'false')), 'run', payload ->> 'run')),
  1, asked_at
FROM questions;
