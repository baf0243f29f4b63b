import Database from 'better-sqlite3';

/** A refusal of the store, in words for the owner. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code:
    | 'MIGRATION_REFUSED'
    | 'MIGRATION_CHANGED'
    | 'FOLDER_TAKEN'
    | 'ROW_INVALID'
    | 'DATABASE_UNUSABLE'
    | 'DATABASE_DAMAGED'
    | 'DATABASE_MISSING'
    | 'NOTHING_SALVAGED';

  constructor(code: StoreError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Tells whether a refusal is for the database or its disk, and not for the code that meets it. */
export function isOfDatabase(error: Error): boolean {
  return error instanceof StoreError && /^DATABASE_/.test(error.code);
}

/** Tells whether waiting helps: the disk is full, or another process holds the database. */
export function isTransient(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|FULL)/.test(error.code);
}

/**
 * Tells whether SQLite has found the file itself to be damaged. A contradiction inside a full-text index does not count:
 * the index is made again from its texts.
 */
export function isDamage(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === 'DATABASE_DAMAGED';
  return error instanceof Database.SqliteError && DAMAGE.test(error.code);
}

/** Explains to the owner an SQLite error about the whole database; returns other errors unchanged. */
export function unusable(path: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  if (isDamage(error)) return damagedError(path, error.message);
  const advice = ADVICE.find(([codes]) => codes.test(error.code))?.[1];
  if (advice === undefined) return error;
  return new StoreError(
    'DATABASE_UNUSABLE',
    `The database ${path} cannot be used: ${error.message}. ${advice}`,
  );
}

/** Says that a database is damaged, and what helps. */
export function damagedError(path: string, reason: string): StoreError {
  return new StoreError(
    'DATABASE_DAMAGED',
    `The database ${path} is damaged: ${reason}. ${REPAIR}`,
  );
}

/** The next step for the owner of a damaged database. */
export const REPAIR =
  'Stop the assistant and run `npx claw repair`: it saves every row that can still be read, and keeps the damaged file.';

const DAMAGE = /^SQLITE_(CORRUPT(?!_VTAB)|NOTADB|IOERR_(SHORT_READ|CORRUPTFS|DATA))/;

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^SQLITE_FULL/, 'Make room on its disk and start again: nothing in it is lost.'],
  [/^SQLITE_(READONLY|CANTOPEN|PERM)/, 'Make it and its folder writable and start again.'],
];
