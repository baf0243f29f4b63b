import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';
import type { OutboundMessage } from '../channel.ts';
import type { SentMessages } from './sent-messages.ts';

/** The table of attempts, for the migrations of a channel's own database. */
export const ATTEMPT_MIGRATION = `CREATE TABLE attempt (
     id TEXT NOT NULL, part INTEGER NOT NULL, jid TEXT NOT NULL, thread TEXT, text TEXT NOT NULL,
     begun_at INTEGER NOT NULL, PRIMARY KEY (id, part)
   ) STRICT;`;

const KEPT_MS = 30 * 86_400_000;

const Attempt = z.object({
  part: z.int(),
  thread: z.string().nullable(),
  text: z.string(),
  begunAt: z.int(),
});

/** A part of a message or draft that was posted, with an unknown outcome. */
export type Attempt = Readonly<z.output<typeof Attempt>>;

type Part = { readonly id: string; readonly part: number };

/**
 * Parts that the far end may have, whatever happened to the process that sent them: each is noted on disk before it
 * is sent.
 */
export interface Attempts {
  /** Notes a part before it is posted; one that is repeated counts from its first attempt on. */
  begin(attempt: Part & Omit<Attempt, 'begunAt'> & { readonly jid: string }): void;
  of(id: string): readonly Attempt[];
  /** The outcome of a part is known. */
  end(part: Part): void;
  forgetChat(jid: string): void;
}

/** Opens the attempts, in a database that has their table, and forgets those older than a month. */
export function openAttempts(openDatabase: OpenDatabase, now: () => number): Attempts {
  const database = openDatabase([]);
  const begin = database.prepare(
    `INSERT INTO attempt (id, part, jid, thread, text, begun_at)
     VALUES (:id, :part, :jid, :thread, :text, :now)
     ON CONFLICT (id, part) DO UPDATE SET text = excluded.text, thread = excluded.thread`,
  );
  const attempts = database.prepare(
    'SELECT part, thread, text, begun_at AS begunAt FROM attempt WHERE id = ? ORDER BY part',
  );
  const end = database.prepare('DELETE FROM attempt WHERE id = :id AND part = :part');
  const forget = database.prepare('DELETE FROM attempt WHERE jid = ?');
  database.prepare('DELETE FROM attempt WHERE begun_at < ?').run(now() - KEPT_MS);
  return {
    begin: (attempt) => void begin.run({ ...attempt, now: now() }),
    of: (id) => attempts.all(id).map((row) => Attempt.parse(row)),
    end: (part) => void end.run(part),
    forgetChat: (jid) => void forget.run(jid),
  };
}

export type LostParts = {
  readonly attempts: Pick<Attempts, 'of' | 'end'>;
  readonly sent: Pick<SentMessages, 'note'>;
  /** Returns the far end's id of a part, and the text that it shows; null where it is not there. */
  readonly find: (
    attempt: Attempt & Part,
  ) => Promise<{ readonly farId: string; readonly text: string } | null>;
};

/**
 * Finds the parts of a message, and of the draft that it replaces, whose outcome is unknown, for example after a
 * kill. Those that the far end has are noted, so that they are edited or removed and nothing appears twice.
 *
 * @throws what `find` throws: nothing may be sent before the far end has answered
 */
export async function findLost(
  { attempts, sent, find }: LostParts,
  { jid, id, replaces }: Pick<OutboundMessage, 'jid' | 'id' | 'replaces'>,
): Promise<void> {
  for (const of of replaces === undefined ? [id] : [id, replaces]) {
    for (const attempt of attempts.of(of)) {
      const { part } = attempt;
      const found = await find({ ...attempt, id: of });
      if (found === null) continue;
      sent.note({ id: of, at: part, jid, ...found });
      attempts.end({ id: of, part });
    }
  }
}
