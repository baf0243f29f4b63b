import Database from 'better-sqlite3';

/** What the store refuses, in words for the owner. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'MIGRATION_REFUSED' | 'MIGRATION_CHANGED' | 'FOLDER_TAKEN' | 'ROW_INVALID';

  constructor(code: StoreError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Whether waiting helps: the disk is full, or somebody else holds the database. */
export function isPassing(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(BUSY|FULL)/.test(error.code);
}
