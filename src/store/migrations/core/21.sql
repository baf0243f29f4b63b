-- The thread of a message as people know it, such as the topic of a forum: the prompt shows it behind the sender's name.
ALTER TABLE messages ADD COLUMN thread_name TEXT;
