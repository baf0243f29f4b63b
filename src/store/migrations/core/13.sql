-- The text is an emoji for the message that `reply_to` names, where the channel can show it there.
ALTER TABLE outbox ADD COLUMN is_reaction INTEGER NOT NULL DEFAULT 0;
