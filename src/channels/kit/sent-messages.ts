import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';

/**
 * The far end's ids of sent messages, by the host's ids. They are on disk, so that after a crash an answer finds its
 * draft, and a reaction its message.
 */
export interface SentMessages {
  /**
   * Returns the far end's id of each existing part, in order; if a message has none, those of the message that it
   * replaces.
   */
  partsOf(id: string, replaces?: string): readonly (string | undefined)[];
  /**
   * Notes that a part exists. The far end's message now belongs to this message; the one that it replaces still finds
   * it.
   */
  note(part: SentPart): void;
  /** Tells whether the far end shows this text in that message, as far as this process knows. */
  shows(part: Pick<SentPart, 'jid' | 'farId' | 'text'>): boolean;
  remove(part: Pick<SentPart, 'jid' | 'farId'>): void;
  /** Returns the id of the host's message to which one of the far end belongs; null for none that is known. */
  idOf(jid: string, farId: string): string | null;
  /** Forgets what was sent to a chat. */
  forgetChat(jid: string): void;
}

/** A part of a message, as the far end knows it. */
export type SentPart = {
  readonly id: string;
  readonly at: number;
  readonly jid: string;
  readonly farId: string;
  /** Its text as it was sent. */
  readonly text: string;
};

const MIGRATIONS = [
  `CREATE TABLE sent (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, at INTEGER NOT NULL, jid TEXT NOT NULL,
     far_id TEXT NOT NULL, sent_at INTEGER NOT NULL, UNIQUE (id, at)
   ) STRICT;
   CREATE INDEX sent_at_far_end ON sent (jid, far_id);
   CREATE INDEX sent_by_time ON sent (sent_at);`,
];
/** Reactions to older messages are not for anything. */
const KEPT_MS = 30 * 86_400_000;
/** Texts that this process remembers to be shown. */
const KEPT_TEXTS = 200;

const Part = z.object({ at: z.int(), far_id: z.string() });
const Owner = z.object({ id: z.string() });

/**
 * Opens the list of what a channel has sent, in its own database.
 *
 * @param others migrations for further tables of the channel, which then has its database by `openDatabase([])`
 */
export function openSentMessages(
  openDatabase: OpenDatabase,
  now: () => number,
  others: readonly string[] = [],
): SentMessages {
  // This list gets no second entry: one there would take the number of the channel's first.
  const database = openDatabase([...MIGRATIONS, ...others]);
  const parts = database.prepare('SELECT at, far_id FROM sent WHERE id = ? ORDER BY at');
  const insert = database.prepare(
    `INSERT INTO sent (jid, far_id, id, at, sent_at) VALUES (:jid, :farId, :id, :at, :now)
     ON CONFLICT (id, at) DO UPDATE SET far_id = excluded.far_id, sent_at = excluded.sent_at`,
  );
  const remove = database.prepare('DELETE FROM sent WHERE jid = :jid AND far_id = :farId');
  const owner = database.prepare(
    'SELECT id FROM sent WHERE jid = :jid AND far_id = :farId ORDER BY seq DESC LIMIT 1',
  );
  const forget = database.prepare('DELETE FROM sent WHERE jid = ?');
  const forgetOld = database.prepare('DELETE FROM sent WHERE sent_at < ?');
  const texts = new Map<string, string>();
  const keyOf = ({ jid, farId }: Pick<SentPart, 'jid' | 'farId'>) => `${jid} ${farId}`;
  forgetOld.run(now() - KEPT_MS);

  function own(id: string): (string | undefined)[] {
    const known: (string | undefined)[] = [];
    for (const row of parts.all(id)) {
      const { at, far_id: farId } = Part.parse(row);
      known[at] = farId;
    }
    return known;
  }

  return {
    partsOf(id, replaces) {
      const mine = own(id);
      const earlier = replaces === undefined ? [] : own(replaces);
      const length = Math.max(mine.length, earlier.length);
      return Array.from({ length }, (_, at) => mine[at] ?? earlier[at]);
    },
    note({ text, ...part }) {
      insert.run({ ...part, now: now() });
      const key = keyOf(part);
      texts.delete(key);
      texts.set(key, text);
      const [oldest] = texts.keys();
      if (texts.size > KEPT_TEXTS && oldest !== undefined) texts.delete(oldest);
    },
    shows: ({ text, ...part }) => texts.get(keyOf(part)) === text,
    remove(part) {
      remove.run({ jid: part.jid, farId: part.farId });
      texts.delete(keyOf(part));
    },
    idOf(jid, farId) {
      const row = owner.get({ jid, farId });
      return row === undefined ? null : Owner.parse(row).id;
    },
    forgetChat: (jid) => void forget.run(jid),
  };
}
