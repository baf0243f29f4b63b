import { randomUUID } from 'node:crypto';
import type { KeyChange, KeyDatabase, KeyPlace, KeyRecords } from '../records/key-records.ts';

/** The library's databases in memory, each change of which is noted for the disk. */
export type KeyStore = {
  /** The name under which the library opens them. */
  readonly name: string;
  /** Called when the library has opened them: they may be newer than those on disk. */
  settle(): Promise<void>;
  /** Writes what has changed; it is on disk when this resolves. */
  flush(): Promise<void>;
  /** Frees the memory. */
  drop(): Promise<void>;
};

/** As much of IndexedDB as is used here, whose types belong to browsers. */
type StoreRequest<T> = EventTarget & { readonly result: T; readonly error: Error | null };
type Store = {
  readonly name: string;
  readonly keyPath: unknown;
  readonly indexNames: Iterable<string>;
  readonly transaction: EventTarget & { readonly db: { readonly name: string } };
  index(name: string): Index;
  createIndex(name: string, keyPath: string | string[], options: object): unknown;
  put(value: unknown, key?: string): StoreRequest<unknown>;
  delete(key: unknown): StoreRequest<unknown>;
  getAll(): StoreRequest<unknown[]>;
  getAllKeys(): StoreRequest<unknown[]>;
};
type Index = {
  readonly name: string;
  readonly keyPath: string | string[];
  readonly unique: boolean;
  readonly multiEntry: boolean;
};
type Database = {
  readonly version: number;
  readonly objectStoreNames: Iterable<string>;
  createObjectStore(name: string): Store;
  transaction(
    stores: readonly string[],
    mode?: string,
  ): EventTarget & {
    objectStore(name: string): Store;
  };
  close(): void;
};
type Factory = {
  open(name: string, version?: number): StoreRequest<Database>;
  deleteDatabase(name: string): StoreRequest<unknown>;
  databases(): Promise<readonly { readonly name?: string }[]>;
};
type Globals = {
  readonly indexedDB: Factory;
  readonly IDBObjectStore: { readonly prototype: object };
  readonly IDBCursor: { readonly prototype: object };
};

/** A note of a change that belongs to an open transaction. `stale` stores are written anew. */
type Note =
  | KeyChange
  | { readonly kind: 'stale'; readonly database: string; readonly store: string };

/** Transactions of a database in memory: those under way, and what the completed ones have changed. */
type Watched = { readonly changes: Note[]; readonly underway: Set<Promise<void>> };

/** By the name of a database in memory. There is one set of such names in a process. */
const listeners = new Map<string, Watched>();
const watched = new WeakSet<object>();

/**
 * Puts what is on disk into databases in memory. The library for encryption keeps its keys in IndexedDB, which Node
 * lacks: fake-indexeddb brings it, in memory, and its changes are written through to SQLite here.
 *
 * @param device whose keys they are; those of another device on disk are not loaded
 */
export async function openKeyStore(records: KeyRecords, device: string): Promise<KeyStore> {
  await loadIndexedDb();
  const globals = globalThis as unknown as Globals;
  watch(globals);
  const name = `matrix-${randomUUID()}`;
  const outer = (inner: string) => `${name}${inner}`;
  const isOurs = records.device() === device;
  const stored = isOurs ? records.databases() : [];
  for (const database of stored)
    await restore(globals.indexedDB, outer(database.name), database, records);

  async function own(): Promise<readonly string[]> {
    const all = await globals.indexedDB.databases();
    return all.flatMap((each) => (each.name?.startsWith(name) ? [each.name] : []));
  }

  return {
    name,
    async settle() {
      const present: KeyDatabase[] = [];
      const everything: KeyChange[] = [];
      for (const full of await own()) {
        const inner = full.slice(name.length);
        const { schema, contents } = await contentsOf(globals.indexedDB, full, inner);
        present.push(schema);
        everything.push(...contents);
        listeners.set(full, { changes: [], underway: new Set() });
      }
      records.replace(device, present, everything);
    },
    async flush() {
      const changes: KeyChange[] = [];
      for (const full of await own()) {
        const found = listeners.get(full);
        while (found !== undefined && found.underway.size > 0) await Promise.all(found.underway);
        const notes = found?.changes.splice(0) ?? [];
        const inner = full.slice(name.length);
        for (const note of notes) {
          if (note.kind !== 'stale') changes.push({ ...note, database: inner });
        }
        const stale = new Set(notes.flatMap((note) => (note.kind === 'stale' ? [note.store] : [])));
        if (stale.size === 0) continue;
        const { contents } = await contentsOf(globals.indexedDB, full, inner);
        for (const store of stale) changes.push({ kind: 'clear', database: inner, store });
        changes.push(...contents.filter(({ store }) => stale.has(store)));
      }
      if (changes.length > 0) records.write(changes);
    },
    async drop() {
      for (const full of await own()) {
        listeners.delete(full);
        await outcome(globals.indexedDB.deleteDatabase(full));
      }
    },
  };
}

/** It puts itself among the globals, where the library looks for it. */
async function loadIndexedDb(): Promise<void> {
  // The package describes its types for all of it but this part.
  const name: string = 'fake-indexeddb/auto';
  await import(name);
}

async function restore(
  factory: Factory,
  full: string,
  { name, version, stores }: KeyDatabase,
  records: KeyRecords,
): Promise<void> {
  const opening = factory.open(full, version);
  opening.addEventListener('upgradeneeded', () => {
    for (const { name: storeName, indexes } of stores) {
      const store = opening.result.createObjectStore(storeName);
      for (const { name: index, keyPath, unique, multiEntry } of indexes) {
        store.createIndex(index, keyPath, { unique, multiEntry });
      }
    }
  });
  const database = await outcome(opening);
  if (stores.length > 0) {
    const transaction = database.transaction(
      stores.map((store) => store.name),
      'readwrite',
    );
    for (const { store, key, value } of records.records(name)) {
      transaction.objectStore(store).put(value, key);
    }
    await completed(transaction);
  }
  database.close();
}

async function contentsOf(
  factory: Factory,
  full: string,
  name: string,
): Promise<{ readonly schema: KeyDatabase; readonly contents: readonly KeyChange[] }> {
  const database = await outcome(factory.open(full));
  const names = [...database.objectStoreNames];
  const stores: KeyDatabase['stores'] = [];
  const contents: KeyChange[] = [];
  const transaction = names.length === 0 ? null : database.transaction(names);
  for (const storeName of names) {
    const store = transaction?.objectStore(storeName);
    if (store === undefined) break;
    const indexes = [...store.indexNames].map((index) => {
      const { keyPath, unique, multiEntry } = store.index(index);
      return { name: index, keyPath, unique, multiEntry };
    });
    stores.push({ name: storeName, indexes });
    const [keys, values] = await Promise.all([
      outcome(store.getAllKeys()),
      outcome(store.getAll()),
    ]);
    for (const [at, key] of keys.entries()) {
      const place = placeOf({ database: name, store: storeName, keyPath: store.keyPath, key });
      contents.push({ kind: 'put', ...place, value: values[at] });
    }
  }
  const { version } = database;
  database.close();
  return { schema: { name, version, stores }, contents };
}

/** Has every change of a store noted when its transaction is complete. */
function watch({ IDBObjectStore, IDBCursor }: Globals): void {
  const stores = IDBObjectStore.prototype as Record<string, (...args: unknown[]) => unknown>;
  const cursors = IDBCursor.prototype as typeof stores;
  if (watched.has(stores)) return;
  watched.add(stores);
  const notes = new WeakMap<EventTarget, Note[]>();

  function note(store: Store, make: (place: { database: string; store: string }) => Note): void {
    const { transaction, name } = store;
    const database = transaction.db.name;
    const found = listeners.get(database);
    if (found === undefined) return;
    const list = notes.get(transaction) ?? [];
    if (list.length === 0) {
      notes.set(transaction, list);
      const ended = completed(transaction).then(
        () => {},
        () => list.splice(0), // What was given up has changed nothing.
      );
      transaction.addEventListener('complete', () => void found.changes.push(...list));
      const until: Promise<void> = ended.then(() => void found.underway.delete(until));
      found.underway.add(until);
    }
    list.push(make({ database, store: name }));
  }

  wrap(stores, ['put', 'add'], (store, request, [value]) => {
    // Before the transaction is complete, and in the order of the changes.
    const { keyPath } = store;
    const done = request as StoreRequest<unknown>;
    done.addEventListener('success', () =>
      note(store, (place) => {
        return { kind: 'put', ...placeOf({ ...place, keyPath, key: done.result }), value };
      }),
    );
  });
  wrap(stores, ['delete'], (store, request, [key]) => {
    (request as StoreRequest<unknown>).addEventListener('success', () => {
      note(store, (place) =>
        typeof key === 'string' ? { kind: 'delete', ...place, key } : { kind: 'stale', ...place },
      );
    });
  });
  wrap(stores, ['clear'], (store, request) => {
    (request as StoreRequest<unknown>).addEventListener('success', () =>
      note(store, (place) => ({ kind: 'clear', ...place })),
    );
  });
  wrap(cursors, ['update', 'delete'], (cursor) => {
    const { source } = cursor as unknown as { source: Store };
    note(source, (place) => ({ kind: 'stale', ...place }));
  });
}

function wrap(
  prototype: Record<string, (...args: unknown[]) => unknown>,
  names: readonly string[],
  after: (self: Store, request: unknown, args: readonly unknown[]) => void,
): void {
  for (const name of names) {
    const original = prototype[name];
    if (original === undefined) throw new Error(`IndexedDB has no ${name}.`);
    prototype[name] = function (this: Store, ...args: unknown[]) {
      const request = original.apply(this, args);
      after(this, request, args);
      return request;
    };
  }
}

/** @throws Error where the library keeps its keys in another way than is known here */
function placeOf(found: {
  readonly database: string;
  readonly store: string;
  readonly keyPath: unknown;
  readonly key: unknown;
}): KeyPlace {
  const { database, store, keyPath, key } = found;
  if (keyPath !== null || typeof key !== 'string') {
    throw new Error(`The library keeps ${store} in a way that is not known.`);
  }
  return { database, store, key };
}

function outcome<T>(request: StoreRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('IndexedDB failed')));
  });
}

function completed(transaction: EventTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(new Error('IndexedDB gave up')));
  });
}
