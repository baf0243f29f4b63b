-- Tool calls of turns that have no answer yet, in their order, with results: a run that follows an interrupted one sees
-- them, and the host does not make a call twice that changes something. `key` tells a call of a turn from all others:
-- made of its tool, its input and how often the same call came before it. Rows go when the turn is answered.
CREATE TABLE turn_calls (
  turn_id TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  key TEXT NOT NULL,
  place TEXT NOT NULL CHECK (place IN ('host', 'container')),
  name TEXT NOT NULL,
  input TEXT NOT NULL,
  is_repeatable INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('running', 'done', 'failed')),
  result TEXT,
  PRIMARY KEY (turn_id, number)
) STRICT, WITHOUT ROWID;
