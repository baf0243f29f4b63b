-- What people call a task; a task without a name is known by its number and its prompt.
ALTER TABLE tasks ADD COLUMN name TEXT;
