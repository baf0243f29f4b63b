-- What goes with a message beside its text, for channels that can show it: the message that it answers, by the
-- channel's id; the thread; files of the host's own and choices to press, as JSON.
ALTER TABLE outbox ADD COLUMN reply_to TEXT;
ALTER TABLE outbox ADD COLUMN thread TEXT;
ALTER TABLE outbox ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';
ALTER TABLE outbox ADD COLUMN choices TEXT;
ALTER TABLE messages ADD COLUMN thread TEXT;
CREATE INDEX outbox_with_files ON outbox (state) WHERE attachments <> '[]';
