import { z } from 'zod';
import type { OwnDatabase } from '../../../lib/own-database.ts';

const KEPT_MS = 30 * 86_400_000;

/** The tables of questions and of people's reactions, in the channel's database. */
export const QUESTION_MIGRATION = `CREATE TABLE question (
   far_id TEXT PRIMARY KEY, question TEXT NOT NULL, words TEXT NOT NULL, asked_at INTEGER NOT NULL
 ) STRICT;
 CREATE TABLE reaction (
   far_id TEXT PRIMARY KEY, message_id TEXT NOT NULL, put_at INTEGER NOT NULL
 ) STRICT;`;

const Asked = z.object({ question: z.string(), words: z.string() });
const Put = z.object({ messageId: z.string() });
const Words = z.array(z.string());

/** The meaning of reactions: those on a question are answers, and one that is taken back was on a message. */
export interface Questions {
  /** Notes that an event asks, with the word of each option in order. */
  ask(farId: string, question: string, words: readonly string[]): void;
  asked(farId: string): { readonly question: string; readonly words: readonly string[] } | null;
  /** Notes on which message of ours an event of a person puts an emoji. */
  put(farId: string, messageId: string): void;
  /** Returns that message; null for an event that is no reaction to one of ours. */
  putOn(farId: string): string | null;
}

/** Opens the list, in a database that has the tables for it. */
export function openQuestions(database: OwnDatabase, now: () => number): Questions {
  const ask = database.prepare('INSERT OR REPLACE INTO question VALUES (?, ?, ?, ?)');
  const asked = database.prepare('SELECT question, words FROM question WHERE far_id = ?');
  const put = database.prepare('INSERT OR REPLACE INTO reaction VALUES (?, ?, ?)');
  const putOn = database.prepare('SELECT message_id AS messageId FROM reaction WHERE far_id = ?');
  const time = () => Math.round(now());
  database.prepare('DELETE FROM question WHERE asked_at < ?').run(time() - KEPT_MS);
  database.prepare('DELETE FROM reaction WHERE put_at < ?').run(time() - KEPT_MS);
  return {
    ask: (farId, question, words) => void ask.run(farId, question, JSON.stringify(words), time()),
    asked(farId) {
      const row = Asked.optional().parse(asked.get(farId));
      if (row === undefined) return null;
      return { question: row.question, words: Words.parse(JSON.parse(row.words)) };
    },
    put: (farId, messageId) => void put.run(farId, messageId, time()),
    putOn: (farId) => Put.optional().parse(putOn.get(farId))?.messageId ?? null,
  };
}
