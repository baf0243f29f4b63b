-- The oldest message of a chat is found without sorting all that wait there.
CREATE INDEX held_messages_of_chat ON held_messages (jid, seq);
