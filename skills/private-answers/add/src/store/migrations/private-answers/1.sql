-- Turns of a group whose answer goes to the chat of the person who asked. A row stays when that chat is taken out:
-- without it the answer would go to the group.
CREATE TABLE private_turns (
  turn_id TEXT PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
  jid TEXT NOT NULL
) STRICT;
