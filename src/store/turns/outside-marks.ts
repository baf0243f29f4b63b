import type { Database } from 'better-sqlite3';

/** A carrier of text from outside: a turn by its id, a conversation by its folder, a task by its number. */
export type OutsideMark = {
  readonly kind: 'turn' | 'conversation' | 'task';
  readonly name: string;
};

/** Marks of what words from outside have reached, each with the first source of them. */
export interface OutsideMarks {
  /** Marks it; an earlier mark stays. */
  add(marked: OutsideMark, source: string, now: number): void;
  /** Returns the source; null where nothing is marked. */
  sourceOf(marked: OutsideMark): string | null;
  remove(marked: OutsideMark): void;
  /** Returns the source of the calls that a turn is told of, which earlier turns made; null where none was marked. */
  sourceOfEarlier(turnId: string): string | null;
  /** Tells whether a message from this cursor on, up to the other, has files, was forwarded, or is not the owner's. */
  isInMessages(range: {
    readonly jid: string;
    readonly from: number;
    readonly upto: number;
  }): boolean;
}

/** Turns are over long before. */
const KEPT_MS = 30 * 86_400_000;

export function openOutsideMarks(database: Database): OutsideMarks {
  const insert = database.prepare(`
    INSERT INTO outside_marks VALUES (:kind, :name, :source, :now) ON CONFLICT (kind, name) DO NOTHING`);
  const prune = database.prepare("DELETE FROM outside_marks WHERE kind = 'turn' AND marked_at < ?");
  const find = database
    .prepare('SELECT source FROM outside_marks WHERE kind = :kind AND name = :name')
    .pluck();
  const remove = database.prepare('DELETE FROM outside_marks WHERE kind = :kind AND name = :name');
  // The turns that `before` of the calls of turns has, too.
  const earlier = database
    .prepare(`
    SELECT source FROM outside_marks JOIN turns ON turns.id = outside_marks.name JOIN turns AS mine ON mine.id = ?
    WHERE outside_marks.kind = 'turn' AND mine.payload IS NULL AND turns.payload IS NULL AND turns.jid = mine.jid
      AND turns.state = 'failed' AND turns.upto_seq BETWEEN mine.from_seq AND mine.upto_seq LIMIT 1`)
    .pluck();
  const inMessages = database.prepare(`
    SELECT 1 FROM messages
    WHERE jid = :jid AND seq BETWEEN :from AND :upto AND (is_outside = 1 OR is_owner = 0) LIMIT 1`);
  const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return {
    add(marked, source, now) {
      if (insert.run({ ...marked, source, now }).changes > 0) prune.run(now - KEPT_MS);
    },
    sourceOf: (marked) => textOrNull(find.get(marked)),
    remove: (marked) => void remove.run(marked),
    sourceOfEarlier: (turnId) => textOrNull(earlier.get(turnId)),
    isInMessages: (range) => inMessages.get(range) !== undefined,
  };
}
