import { z } from 'zod';
import type { OwnDatabase } from '../../lib/own-database.ts';
import { CODE_BITS } from './quantise.ts';
import { spaced, tellingWords, wordsOf } from './query-words.ts';

/** Candidates of each way of searching. More cost time: the vector index finds each of them by a pass. */
const BY_WORDS = 32;
const BY_VECTOR = 128;
/** Words whose counts are read at once, before others get their turn. */
const COUNTED_AT_ONCE = 2_000;
/** The most places in the full-text index that one search ranks. */
const MOST_RANKED = 1_500;

const Counted = z.array(z.object({ term: z.string(), doc: z.int() }));
const Ids = z.array(z.int());

/** Words and vectors of one folder's notes, in tables of its own: a search cannot meet another folder's. */
export type ScopeIndex = {
  addWords(id: number, text: string): void;
  removeWords(id: number, text: string): void;
  addVector(id: number, code: Buffer): void;
  removeVector(id: number): void;
  /** Returns notes that have some of the words, best first (BM25). */
  byWords(words: readonly string[]): readonly number[];
  /** Returns in how many notes a word is. */
  notesWith(word: string): number;
  /** Reads, in short steps, what the first search would have to wait for. */
  warmUp(): Iterable<void>;
  /** Returns notes by their nearness to a code, nearest first. */
  byVector(code: Buffer): readonly number[];
  /** Empties the vectors. */
  clearVectors(): void;
  remove(): void;
};

/** Opens the index of a scope, making its tables where they are missing. */
export function openScopeIndex(
  database: OwnDatabase,
  scope: number,
  hasVectors: boolean,
): ScopeIndex {
  const words = `words_${scope}`;
  const vocabulary = `vocabulary_${scope}`;
  database.exec(`
    CREATE VIRTUAL TABLE IF NOT EXISTS ${words} USING fts5 (
      text, content = 'notes', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2');
    CREATE VIRTUAL TABLE IF NOT EXISTS ${vocabulary} USING fts5vocab (${words}, row);
    INSERT INTO ${words} (${words}, rank) VALUES ('secure-delete', 1);`);
  const add = database.prepare(`INSERT INTO ${words} (rowid, text) VALUES (?, ?)`);
  const remove = database.prepare(
    `INSERT INTO ${words} (${words}, rowid, text) VALUES ('delete', ?, ?)`,
  );
  const nextWords = database.prepare(
    `SELECT term, doc FROM ${vocabulary} WHERE term > ? LIMIT ${COUNTED_AT_ONCE}`,
  );
  const ranked = database
    .prepare(`SELECT rowid FROM ${words} WHERE ${words} MATCH ? ORDER BY rank LIMIT ${BY_WORDS}`)
    .pluck();
  const newest = database
    .prepare(
      `SELECT rowid FROM ${words} WHERE ${words} MATCH ? ORDER BY rowid DESC LIMIT ${BY_WORDS}`,
    )
    .pluck();
  // The index counts a word by reading all its places, so the counts are kept once they are known.
  const counts = new Map<string, number>();
  /** The words up to this one are counted; null once all are. */
  let countedTo: string | null = '';
  function* countWords(): Iterable<void> {
    while (countedTo !== null) {
      const next = Counted.parse(nextWords.all(countedTo));
      for (const { term, doc } of next) counts.set(term, doc);
      countedTo = next.length < COUNTED_AT_ONCE ? null : (next.at(-1)?.term ?? null);
      yield;
    }
  }
  function notesWith(word: string): number {
    for (const _ of countWords());
    return counts.get(word) ?? 0;
  }
  function count(text: string, change: 1 | -1): void {
    for (const word of wordsOf(text)) {
      // The index tells of later words itself, once it comes to them.
      if (countedTo === null || isBefore(word, countedTo))
        counts.set(word, (counts.get(word) ?? 0) + change);
    }
  }
  const vectors = hasVectors ? openVectors(database, `vectors_${scope}`) : NO_VECTORS;
  return {
    ...vectors,
    notesWith,
    *warmUp() {
      yield* countWords();
      vectors.byVector(Buffer.alloc(CODE_BITS / 8));
      yield;
    },
    addWords(id, text) {
      add.run(id, spaced(text));
      count(text, 1);
    },
    removeWords(id, text) {
      remove.run(id, spaced(text));
      count(text, -1);
    },
    byWords(asked) {
      const counted = asked.map((word) => ({ word, notes: notesWith(word) }));
      const telling = tellingWords(counted, MOST_RANKED);
      if (telling.length > 0) return Ids.parse(ranked.all(matchOf(telling, 'OR')));
      // All of them are common: notes with each of them, not ranked.
      const common = counted.filter(({ notes }) => notes > 0).map(({ word }) => word);
      return common.length === 0 ? [] : Ids.parse(newest.all(matchOf(common, 'AND')));
    },
    remove() {
      vectors.remove();
      database.exec(`DROP TABLE ${vocabulary}; DROP TABLE ${words}`);
    },
  };
}

/** Tells whether a word comes before another, or is that, in the order of the index: by bytes. */
function isBefore(word: string, other: string): boolean {
  return Buffer.compare(Buffer.from(word), Buffer.from(other)) <= 0;
}

function matchOf(words: readonly string[], how: 'AND' | 'OR'): string {
  return words.map((word) => `"${word}"`).join(` ${how} `);
}

type Vectors = Pick<
  ScopeIndex,
  'addVector' | 'removeVector' | 'byVector' | 'clearVectors' | 'remove'
>;

const NO_VECTORS: Vectors = {
  addVector() {},
  removeVector() {},
  byVector: () => [],
  clearVectors() {},
  remove() {},
};

function openVectors(database: OwnDatabase, table: string): Vectors {
  const make = `CREATE VIRTUAL TABLE IF NOT EXISTS ${table} USING vec0 (code bit[${CODE_BITS}])`;
  database.exec(make);
  const add = database.prepare(`INSERT INTO ${table} (rowid, code) VALUES (?, vec_bit(?))`);
  const remove = database.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
  const nearest = database
    .prepare(`SELECT rowid FROM ${table} WHERE code MATCH vec_bit(?) AND k = ${BY_VECTOR}`)
    .pluck();
  return {
    addVector: (id, code) => void add.run(BigInt(id), code),
    removeVector: (id) => void remove.run(BigInt(id)),
    byVector: (code) => Ids.parse(nearest.all(code)),
    clearVectors: () => void database.exec(`DELETE FROM ${table}`),
    remove: () => void database.exec(`DROP TABLE ${table}`),
  };
}
