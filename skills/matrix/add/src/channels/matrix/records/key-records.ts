import { deserialize, serialize } from 'node:v8';
import { z } from 'zod';
import type { OwnDatabase } from '../../../lib/own-database.ts';

/** The tables of keys, in the channel's database. */
export const KEY_MIGRATION = `CREATE TABLE key_device (
   one INTEGER PRIMARY KEY CHECK (one = 1), device TEXT NOT NULL
 ) STRICT;
 CREATE TABLE key_database (name TEXT PRIMARY KEY, version INTEGER NOT NULL, stores TEXT NOT NULL) STRICT;
 CREATE TABLE key_record (
   database TEXT NOT NULL, store TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
   PRIMARY KEY (database, store, key)
 ) STRICT, WITHOUT ROWID;`;

const Index = z.object({
  name: z.string(),
  keyPath: z.union([z.string(), z.array(z.string())]),
  unique: z.boolean(),
  multiEntry: z.boolean(),
});
const Store = z.object({ name: z.string(), indexes: z.array(Index) });
const Stores = z.array(Store);

/** One place of a database of the library. */
export type KeyPlace = { readonly database: string; readonly store: string; readonly key: string };

/** A database of the library: its stores with their indexes. Keys are text, and outside of the values. */
export type KeyDatabase = {
  readonly name: string;
  readonly version: number;
  readonly stores: z.output<typeof Stores>;
};

/** A change of the library's, to be written. `isCleared` empties the store first, without a key. */
export type KeyChange =
  | ({ readonly kind: 'put'; readonly value: unknown } & KeyPlace)
  | ({ readonly kind: 'delete' } & KeyPlace)
  | ({ readonly kind: 'clear' } & Omit<KeyPlace, 'key'>);

/** The databases of the library for encryption, as they are on disk. */
export interface KeyRecords {
  /** Returns the device whose keys these are; null for none. */
  device(): string | null;
  databases(): readonly KeyDatabase[];
  records(database: string): Iterable<KeyPlace & { readonly value: unknown }>;
  /** Writes changes, all or none of them; they are on disk when it returns. */
  write(changes: readonly KeyChange[]): void;
  /** Writes everything anew. */
  replace(device: string, databases: readonly KeyDatabase[], changes: readonly KeyChange[]): void;
}

const DatabaseRow = z.object({ name: z.string(), version: z.int(), stores: z.string() });
const RecordRow = z.object({ store: z.string(), key: z.string(), value: z.instanceof(Buffer) });
const DeviceRow = z.object({ device: z.string() });

/** Opens the keys, in a database that has the tables for them. */
export function openKeyRecords(database: OwnDatabase): KeyRecords {
  const device = database.prepare('SELECT device FROM key_device');
  const databases = database.prepare('SELECT name, version, stores FROM key_database');
  const records = database.prepare('SELECT store, key, value FROM key_record WHERE database = ?');
  const put = database.prepare('INSERT OR REPLACE INTO key_record VALUES (?, ?, ?, ?)');
  const remove = database.prepare(
    'DELETE FROM key_record WHERE database = ? AND store = ? AND key = ?',
  );
  const clear = database.prepare('DELETE FROM key_record WHERE database = ? AND store = ?');
  const noteDevice = database.prepare('INSERT OR REPLACE INTO key_device VALUES (1, ?)');
  const noteDatabase = database.prepare('INSERT OR REPLACE INTO key_database VALUES (?, ?, ?)');

  function apply(changes: readonly KeyChange[]): void {
    for (const change of changes) {
      const { database: name, store } = change;
      if (change.kind === 'put') put.run(name, store, change.key, serialize(change.value));
      else if (change.kind === 'delete') remove.run(name, store, change.key);
      else clear.run(name, store);
    }
  }

  return {
    device: () => DeviceRow.optional().parse(device.get())?.device ?? null,
    databases: () =>
      z
        .array(DatabaseRow)
        .parse(databases.all())
        .map(({ stores, ...others }) => ({ ...others, stores: Stores.parse(JSON.parse(stores)) })),
    *records(name) {
      for (const row of records.all(name)) {
        const { store, key, value } = RecordRow.parse(row);
        yield { database: name, store, key, value: deserialize(value) };
      }
    },
    write: (changes) => database.transaction(() => apply(changes))(),
    replace(newDevice, all, changes) {
      database.transaction(() => {
        database.exec('DELETE FROM key_record; DELETE FROM key_database;');
        noteDevice.run(newDevice);
        for (const { name, version, stores } of all) {
          noteDatabase.run(name, version, JSON.stringify(stores));
        }
        apply(changes);
      })();
    },
  };
}
