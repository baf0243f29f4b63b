-- Who writes in a direct chat: an address of theirs finds it where the chat has another one.
ALTER TABLE chats ADD COLUMN person TEXT;
