-- Turns of a group whose answer goes to the chat of the person who asked. A row stays when that chat is taken out:
-- without it the answer would go to the group. `answered_in` is that chat's address at the time of the question: where it
-- was merged into another since then, `chats.merged_into` tells.
CREATE TABLE private_turns (
  turn_id TEXT PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
  answered_in TEXT NOT NULL
) STRICT;

-- The reach of private turns that failed, beside that of those that were answered.
CREATE INDEX turns_failed ON turns (jid, upto_seq) WHERE kind = 'agent' AND state = 'failed';
