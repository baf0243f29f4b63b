import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** `agent` wrote it in a turn, `owner` by a command; `file` is whoever changed the file between turns. */
const AUTHORS = ['agent', 'owner', 'file'] as const;
export type MemoryAuthor = (typeof AUTHORS)[number];

/** A memory as it was from a moment on. Its number is the version that a write is against. */
export type MemoryVersion = {
  readonly seq: number;
  readonly author: MemoryAuthor;
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
};

/** The versions of each folder's `CLAUDE.md`. */
export interface MemoryVersions {
  /** Adds a version and returns it. The oldest of the folder are dropped when it has too many. */
  add(folder: string, version: Omit<MemoryVersion, 'seq'>): MemoryVersion;
  /** Returns the newest version up to a number; null where none was noted. */
  upTo(folder: string, seq: number): MemoryVersion | null;
  /** Returns the newest `limit` versions, newest first. */
  last(folder: string, limit: number): readonly MemoryVersion[];
  /** Deletes all versions of a folder. */
  removeOf(folder: string): void;
}

const MOST_VERSIONS = 500;
const MOST_CHARACTERS = 20_000_000;

const Row = z.object({
  seq: z.int(),
  author: z.enum(AUTHORS).catch('file'),
  at: z.int(),
  text: z.string(),
});

export function openMemoryVersions(database: Database): MemoryVersions {
  const columns = 'SELECT seq, author, noted_at AS at, text FROM memory_versions';
  const insert = database.prepare(`
    INSERT INTO memory_versions (folder, text, author, noted_at) VALUES (:folder, :text, :author, :at)`);
  // The newest stays, however long it is.
  const prune = database.prepare(`
    DELETE FROM memory_versions WHERE seq IN (
      SELECT seq FROM (
        SELECT seq, row_number() OVER newest_first AS place, sum(length(text)) OVER newest_first AS characters
        FROM memory_versions WHERE folder = ? WINDOW newest_first AS (ORDER BY seq DESC))
      WHERE place > 1 AND (place > ${MOST_VERSIONS} OR characters > ${MOST_CHARACTERS}))`);
  const upTo = database.prepare(
    `${columns} WHERE folder = ? AND seq <= ? ORDER BY seq DESC LIMIT 1`,
  );
  const last = database.prepare(`${columns} WHERE folder = ? ORDER BY seq DESC LIMIT ?`);
  const remove = database.prepare('DELETE FROM memory_versions WHERE folder = ?');
  return {
    add(folder, version) {
      const { lastInsertRowid } = insert.run({ folder, ...version });
      prune.run(folder);
      return { ...version, seq: Number(lastInsertRowid) };
    },
    upTo(folder, seq) {
      const row = upTo.get(folder, seq);
      return row === undefined ? null : Row.parse(row);
    },
    last: (folder, limit) => last.all(folder, limit).map((row) => Row.parse(row)),
    removeOf: (folder) => void remove.run(folder),
  };
}
