import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { OwnDatabase } from '../../lib/own-database.ts';
import {
  type NewNote,
  type Note,
  SOURCE_KINDS,
  type Source,
  type SourceKind,
  type WaitingNote,
} from './note.ts';
import { codeOf, toBytes } from './quantise.ts';
import { openScopeIndex, type ScopeIndex } from './scope-index.ts';

/** Notes that are written or deleted at once, before others get their turn. */
const AT_ONCE = 50;

const NoteRows = z.array(
  z
    .object({
      id: z.int(),
      folder: z.string(),
      kind: z.enum(SOURCE_KINDS),
      source: z.string(),
      place: z.int(),
      heading: z.string().nullable(),
      who: z.string().nullable(),
      said_at: z.int().nullable(),
      text: z.string(),
      bytes: z.instanceof(Uint8Array).nullable(),
    })
    .transform(({ said_at: saidAt, bytes: vector, ...row }) => ({
      note: { ...row, saidAt },
      vector,
    })),
);

/** A note, and its vector in one byte a number; null where it has none. */
export type NoteWithVector = { readonly note: Note; readonly vector: Uint8Array | null };
const SourceRow = z.object({
  id: z.int(),
  kind: z.enum(SOURCE_KINDS),
  name: z.string(),
  mark: z.string().nullable(),
  first: z.int().nullable(),
  cursor: z.int(),
  seen: z.int(),
});
const Waiting = z.array(z.object({ id: z.int(), text: z.string() }));
const Kept = z.object({ id: z.int(), place: z.int(), digest: z.string(), text: z.string() });
const Scope = z.object({ id: z.int(), folder: z.string() });
const Counts = z.array(z.object({ state: z.int(), count: z.int() }));

/** The notes of all folders, each folder's apart. Synchronous: when a call returns, it is on disk. */
export interface Notes {
  folders(): readonly string[];
  sources(folder: string): readonly Source[];
  /** Finds a source, or adds it. */
  source(folder: string, kind: SourceKind, name: string): Source;
  /** Notes how far a source has been read. */
  progress(source: Source): void;
  /** Adds notes of a source. One of a text that the folder has a vector for takes that vector. */
  append(folder: string, source: Source, notes: readonly NewNote[]): void;
  /**
   * Replaces the notes of a source, in short steps with searches between them: what is there already keeps its
   * place in the index. Where it ends early, the next one goes on.
   */
  replace(folder: string, source: Source, notes: readonly NewNote[]): Iterable<void>;
  /** Deletes a source with its notes, in short steps as well. */
  removeSource(folder: string, source: Source): Iterable<void>;
  /** Deletes all of a folder, and writes the database anew without it. */
  removeFolder(folder: string): void;
  waiting(folder: string, limit: number): readonly WaitingNote[];
  /** Keeps the vectors of notes; null for one that cannot have one. Notes that are gone meanwhile are passed over. */
  embedded(folder: string, vectors: ReadonlyMap<number, Float32Array | null>): void;
  /** Forgets all vectors: each note waits for one again. */
  forgetVectors(): void;
  /** Returns notes with their vectors, in any order. */
  byIds(ids: readonly number[]): readonly NoteWithVector[];
  /** The index of a folder; null where it has no notes. */
  index(folder: string): ScopeIndex | null;
  /** Returns a number that the notes are not more than, at once. */
  size(): number;
  counts(folder?: string): {
    readonly total: number;
    readonly embedded: number;
    readonly refused: number;
  };
}

/** Opens the notes of a database that has the memory's migrations. */
export function openNotes(database: OwnDatabase, hasVectors: boolean): Notes {
  const indexes = new Map<string, { readonly scope: number; readonly index: ScopeIndex }>();
  const q = statements(database);

  function scopeOf(folder: string) {
    const known = indexes.get(folder);
    if (known !== undefined) return known;
    const row = Scope.optional().parse(q.scope.get(folder));
    if (row === undefined) return null;
    const opened = { scope: row.id, index: openScopeIndex(database, row.id, hasVectors) };
    indexes.set(folder, opened);
    return opened;
  }

  function madeScope(folder: string) {
    q.addScope.run(folder);
    const made = scopeOf(folder);
    if (made === null) throw new Error(`the folder ${folder} could not be added`);
    return made;
  }

  function add(folder: string, source: Source, note: NewNote): void {
    const { scope, index } = madeScope(folder);
    const digest = digestOf(note);
    const twin = z.object({ id: z.int() }).optional().parse(q.twin.get(scope, digest));
    const given = { ...note, scope, source: source.id, digest, state: twin === undefined ? 0 : 1 };
    const id = Number(q.addNote.run(given).lastInsertRowid);
    index.addWords(id, note.text);
    const bytes = twin === undefined ? null : vectorOf(twin.id);
    if (bytes !== null) keepVector(index, id, bytes);
  }

  function keepVector(index: ScopeIndex, id: number, bytes: Uint8Array): void {
    const numbers = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    q.addVector.run(id, bytes);
    index.addVector(id, codeOf(Float32Array.from(numbers)));
  }

  function remove(index: ScopeIndex, { id, text }: { id: number; text: string }): void {
    index.removeWords(id, text);
    index.removeVector(id);
    q.removeVector.run(id);
    q.removeNote.run(id);
  }

  function vectorOf(id: number): Uint8Array | null {
    const bytes = q.vector.get(id);
    return bytes instanceof Uint8Array ? bytes : null;
  }

  function* replace(folder: string, source: Source, notes: readonly NewNote[]): Iterable<void> {
    const { index } = madeScope(folder);
    const old = z.array(Kept).parse(q.notesOf.all(source.id));
    const left = Map.groupBy(old, ({ digest }) => digest);
    yield* inSteps(notes, (note) => {
      const same = left.get(digestOf(note))?.shift();
      if (same === undefined) add(folder, source, note);
      else if (same.place !== note.place) q.move.run(note.place, same.id);
    });
    yield* inSteps([...left.values()].flat(), (gone) => remove(index, gone));
  }

  /** Does some at once, each time in a transaction of its own. */
  function* inSteps<T>(all: readonly T[], act: (one: T) => void): Iterable<void> {
    for (let at = 0; at < all.length; at += AT_ONCE) {
      database.transaction(() => all.slice(at, at + AT_ONCE).forEach(act))();
      yield;
    }
  }

  function removeFolder(folder: string): void {
    const found = scopeOf(folder);
    if (found === null) return;
    database.transaction(() => {
      found.index.remove();
      for (const each of q.removeAll) each.run(found.scope);
    })();
    indexes.delete(folder);
  }

  return {
    folders: () =>
      z
        .array(Scope)
        .parse(q.scopes.all())
        .map(({ folder }) => folder),
    sources: (folder) => z.array(SourceRow).parse(q.sources.all(folder)),
    source(folder, kind, name) {
      const { scope } = madeScope(folder);
      q.addSource.run(scope, kind, name);
      return SourceRow.parse(q.source.get(scope, kind, name));
    },
    progress: ({ id, mark, first, cursor, seen }) =>
      void q.progress.run({ id, mark, first, cursor, seen }),
    append: database.transaction((folder: string, source: Source, notes: readonly NewNote[]) => {
      for (const note of notes) add(folder, source, note);
    }),
    replace,
    *removeSource(folder, source) {
      yield* replace(folder, source, []);
      q.removeSource.run(source.id);
    },
    removeFolder(folder) {
      removeFolder(folder);
      database.exec('VACUUM');
      database.pragma('wal_checkpoint(TRUNCATE)');
    },
    waiting(folder, limit) {
      const found = scopeOf(folder);
      return found === null ? [] : Waiting.parse(q.waiting.all(found.scope, limit));
    },
    embedded: database.transaction(
      (folder: string, vectors: ReadonlyMap<number, Float32Array | null>) => {
        const index = scopeOf(folder)?.index;
        for (const [id, vector] of vectors) {
          const isThere = q.setState.run(vector === null ? 2 : 1, id).changes > 0;
          if (isThere && index && vector !== null) keepVector(index, id, toBytes(vector));
        }
      },
    ),
    forgetVectors: database.transaction(() => {
      for (const { folder } of z.array(Scope).parse(q.scopes.all())) {
        scopeOf(folder)?.index.clearVectors();
      }
      database.exec('DELETE FROM vectors; UPDATE notes SET state = 0');
    }),
    byIds: (ids) => NoteRows.parse(q.notes.all(JSON.stringify(ids))),
    index: (folder) => scopeOf(folder)?.index ?? null,
    size: () => z.int().nullable().parse(q.last.get()) ?? 0,
    counts(folder) {
      const rows = Counts.parse(folder === undefined ? q.countAll.all() : q.count.all(folder));
      const of = (state: number) => rows.find((row) => row.state === state)?.count ?? 0;
      return { total: of(0) + of(1) + of(2), embedded: of(1), refused: of(2) };
    },
  };
}

/** Identifies a text: two notes with one digest have one vector. */
function digestOf({ text, heading }: Pick<NewNote, 'text' | 'heading'>): string {
  return createHash('sha256')
    .update(JSON.stringify([heading, text]))
    .digest('base64')
    .slice(0, 24);
}

function statements(database: OwnDatabase) {
  const ofFolder = 'scope = (SELECT id FROM scopes WHERE folder = ?)';
  return {
    scope: database.prepare('SELECT id, folder FROM scopes WHERE folder = ?'),
    scopes: database.prepare('SELECT id, folder FROM scopes ORDER BY id'),
    addScope: database.prepare('INSERT INTO scopes (folder) VALUES (?) ON CONFLICT DO NOTHING'),
    sources: database.prepare(`SELECT * FROM sources WHERE ${ofFolder}`),
    source: database.prepare('SELECT * FROM sources WHERE scope = ? AND kind = ? AND name = ?'),
    addSource: database.prepare(
      'INSERT INTO sources (scope, kind, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    removeSource: database.prepare('DELETE FROM sources WHERE id = ?'),
    progress: database.prepare(`
      UPDATE sources SET mark = :mark, first = :first, cursor = :cursor, seen = :seen WHERE id = :id`),
    addNote: database.prepare(`
      INSERT INTO notes (scope, source, place, heading, who, said_at, text, digest, state)
      VALUES (:scope, :source, :place, :heading, :who, :saidAt, :text, :digest, :state)`),
    twin: database.prepare(
      // The plus keeps it off the index of states, which knows nothing of digests.
      'SELECT id FROM notes WHERE scope = ? AND digest = ? AND +state = 1 LIMIT 1',
    ),
    notesOf: database.prepare('SELECT id, place, digest, text FROM notes WHERE source = ?'),
    move: database.prepare('UPDATE notes SET place = ? WHERE id = ?'),
    removeNote: database.prepare('DELETE FROM notes WHERE id = ?'),
    setState: database.prepare('UPDATE notes SET state = ? WHERE id = ? AND state = 0'),
    waiting: database.prepare(`
      SELECT id, coalesce(heading || ': ', '') || text AS text FROM notes
      WHERE state = 0 AND scope = ? ORDER BY id DESC LIMIT ?`),
    vector: database.prepare('SELECT bytes FROM vectors WHERE note = ?').pluck(),
    addVector: database.prepare('INSERT OR REPLACE INTO vectors VALUES (?, ?)'),
    removeVector: database.prepare('DELETE FROM vectors WHERE note = ?'),
    notes: database.prepare(`
      SELECT notes.id, folder, kind, name AS source, place, heading, who, said_at, text, bytes
      FROM json_each(?) AS wanted JOIN notes ON notes.id = wanted.value
      JOIN sources ON sources.id = notes.source JOIN scopes ON scopes.id = notes.scope
      LEFT JOIN vectors ON vectors.note = notes.id`),
    last: database.prepare('SELECT max(id) FROM notes').pluck(),
    countAll: database.prepare('SELECT state, count(*) AS count FROM notes GROUP BY state'),
    count: database.prepare(
      `SELECT state, count(*) AS count FROM notes WHERE ${ofFolder} GROUP BY state`,
    ),
    removeAll: [
      'DELETE FROM vectors WHERE note IN (SELECT id FROM notes WHERE scope = ?)',
      'DELETE FROM notes WHERE scope = ?',
      'DELETE FROM sources WHERE scope = ?',
      'DELETE FROM scopes WHERE id = ?',
    ].map((sql) => database.prepare(sql)),
  };
}
