-- The turn that a message answers, or tells about while it runs: whoever asked can be told apart.
ALTER TABLE outbox ADD COLUMN turn_id TEXT;
CREATE INDEX outbox_of_turn ON outbox (turn_id, state);
