-- What the model's answers have cost, a row for each folder, local day and model. Money is whole
-- millionths of a dollar; `unpriced_calls` are those whose model has no known price.
CREATE TABLE usage (
  day TEXT NOT NULL,
  folder TEXT NOT NULL COLLATE NOCASE,
  model TEXT NOT NULL,
  calls INTEGER NOT NULL,
  unpriced_calls INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  micro_usd INTEGER NOT NULL,
  PRIMARY KEY (day, folder, model)
) STRICT, WITHOUT ROWID;

-- What the owner allows a folder instead of the default; null is without a limit.
CREATE TABLE budgets (
  folder TEXT PRIMARY KEY COLLATE NOCASE,
  micro_usd INTEGER,
  tokens INTEGER
) STRICT, WITHOUT ROWID;

-- What was said about a folder's budget on a day, so that it is said once.
CREATE TABLE budget_notices (
  day TEXT NOT NULL,
  folder TEXT NOT NULL COLLATE NOCASE,
  kind TEXT NOT NULL CHECK (kind IN ('near', 'spent', 'paused')),
  PRIMARY KEY (day, folder, kind)
) STRICT, WITHOUT ROWID;
