import Database from 'better-sqlite3';

/** A refusal of the store, in words for the owner. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code:
    | 'MIGRATION_REFUSED'
    | 'MIGRATION_CHANGED'
    | 'FOLDER_TAKEN'
    | 'ROW_INVALID'
    | 'DATABASE_UNUSABLE';

  constructor(code: StoreError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Tells whether waiting helps: the disk is full, or another process holds the database. */
export function isTransient(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|FULL)/.test(error.code);
}

/** Explains to the owner an SQLite error about the whole database; returns other errors unchanged. */
export function unusable(path: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const advice = ADVICE.find(([codes]) => codes.test(error.code))?.[1];
  if (advice === undefined) return error;
  return new StoreError(
    'DATABASE_UNUSABLE',
    `The database ${path} cannot be used: ${error.message}. ${advice}`,
  );
}

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_FULL/, 'Make room on its disk and start again: nothing in it is lost.'],
  [/^SQLITE_(READONLY|CANTOPEN|PERM)/, 'Make it and its folder writable and start again.'],
  [
    /^SQLITE_(CORRUPT|NOTADB)/,
    '`npx claw doctor` says how to save what can be read. Or put a copy of it back, or move it away together with the files beside it that begin with its name, and start with an empty one.',
  ],
];
