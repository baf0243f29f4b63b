/** What the store refuses, in words for the owner. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: 'MIGRATION_REFUSED' | 'MIGRATION_CHANGED' | 'FOLDER_TAKEN' | 'ROW_INVALID';

  constructor(code: StoreError['code'], message: string) {
    super(message);
    this.code = code;
  }
}
