-- What is done for each message looks at what is open in its chat, never at what a chat has behind it.
CREATE INDEX turns_open ON turns (jid, seq) WHERE state IN ('queued', 'claimed', 'resuming');
CREATE INDEX turns_waiting ON turns (kind, seq) WHERE state = 'queued';
CREATE INDEX turns_to_extend ON turns (jid, seq) WHERE kind = 'agent' AND state = 'queued';
CREATE INDEX turns_answered ON turns (jid, upto_seq)
  WHERE kind = 'agent' AND state IN ('answered', 'gave_up');
CREATE INDEX turns_of_commands ON turns (jid, upto_seq) WHERE kind = 'command';
CREATE INDEX messages_of_owner ON messages (jid, seq) WHERE is_owner = 1;

-- So that taking out a chat finds what refers to it.
CREATE INDEX outbox_of_chat ON outbox (jid);
