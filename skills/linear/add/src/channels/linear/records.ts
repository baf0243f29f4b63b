import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';
import { openSentMessages, type SentMessages } from '../kit/sent-messages.ts';

const MIGRATION = `
  CREATE TABLE progress (one INTEGER PRIMARY KEY CHECK (one = 1), floor INTEGER NOT NULL, cursor INTEGER NOT NULL) STRICT;
  CREATE TABLE handed (id TEXT PRIMARY KEY, issue_id TEXT NOT NULL, at INTEGER NOT NULL) STRICT;
  CREATE INDEX handed_by_time ON handed (at);`;
const KEPT_MS = 30 * 86_400_000;

/** The time, at Linear's end, from which on comments count, and that up to which all is handed over. */
export type Progress = { readonly floor: number; readonly cursor: number };

/** The records that the channel keeps on disk. */
export type Records = {
  readonly sent: SentMessages;
  progress(): Progress | null;
  advance(progress: Progress): void;
  isHanded(id: string): boolean;
  noteHanded(id: string, issueId: string): void;
  /** Returns the issue of a message that was handed over. */
  issueOf(id: string): string | null;
};

const ProgressRow = z.object({ floor: z.int(), cursor: z.int() });
const IssueRow = z.object({ issueId: z.string() });

/** Opens the channel's database. */
export function openRecords(openDatabase: OpenDatabase, now: () => number): Records {
  const sent = openSentMessages(openDatabase, now, [MIGRATION]);
  const database = openDatabase([]);
  const progress = database.prepare('SELECT floor, cursor FROM progress');
  const advance = database.prepare('INSERT OR REPLACE INTO progress VALUES (1, :floor, :cursor)');
  const note = database.prepare('INSERT OR IGNORE INTO handed VALUES (?, ?, ?)');
  const find = database.prepare('SELECT issue_id AS issueId FROM handed WHERE id = ?');
  // Older changes are not asked for again: the overlap of two looks is a few minutes.
  database.prepare('DELETE FROM handed WHERE at < ?').run(now() - KEPT_MS);
  const issueOf = (id: string) => IssueRow.optional().parse(find.get(id))?.issueId ?? null;
  return {
    sent,
    progress: () => ProgressRow.optional().parse(progress.get()) ?? null,
    advance: (to) => void advance.run(to),
    isHanded: (id) => issueOf(id) !== null,
    noteHanded: (id, issueId) => void note.run(id, issueId, now()),
    issueOf,
  };
}
