import type { Update, UserFromGetMe } from 'grammy/types';
import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';
import type { ChannelClock, ChannelLog } from '../channel.ts';
import { ALBUM_PAUSE_MS, albumOf, MOST_ALBUM_LOOKS, together } from './albums.ts';

/** The table of updates that a webhook brought, in the channel's database. */
export const INBOX_MIGRATIONS = [
  `CREATE TABLE update_inbox (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, bot TEXT NOT NULL, update_id INTEGER NOT NULL,
     body TEXT, kept_at INTEGER NOT NULL, UNIQUE (bot, update_id)
   ) STRICT;
   CREATE INDEX update_inbox_by_time ON update_inbox (kept_at);`,
];

/** Telegram repeats an update for a day, and may begin with other numbers after a quiet week. */
const KNOWN_MS = 3 * 86_400_000;

/** What a webhook has brought: on disk before Telegram is told so, and known for a while afterwards. */
export interface UpdateInbox {
  /** Stores an update, as JSON; one that is known is left alone. */
  keep(id: number, body: string): void;
  isKnown(id: number): boolean;
  /** Returns the updates that the host has not stored yet, in the order in which they came. */
  waiting(): readonly Update[];
  /** The host has stored this update: only its number is remembered. */
  done(id: number): void;
  /** Resolves when an update comes, or the signal is aborted. */
  next(signal: AbortSignal): Promise<void>;
}

const MOST_AT_ONCE = 100;
const Row = z.object({ body: z.string() });

/** Opens the inbox of a bot, in a database that has the table for it. */
export function openUpdateInbox(
  openDatabase: OpenDatabase,
  now: () => number,
  token: string,
): UpdateInbox {
  const database = openDatabase([]);
  // Each bot counts its own updates; the number before the colon is its id.
  const bot = token.split(':', 1)[0] ?? '';
  const forget = database.prepare(
    'DELETE FROM update_inbox WHERE body IS NULL AND kept_at NOT BETWEEN ? AND ?',
  );
  const insert = database.prepare(
    'INSERT OR IGNORE INTO update_inbox (bot, update_id, body, kept_at) VALUES (?, ?, ?, ?)',
  );
  const find = database.prepare('SELECT 1 FROM update_inbox WHERE bot = ? AND update_id = ?');
  const waiting = database.prepare(
    `SELECT body FROM update_inbox WHERE bot = ? AND body IS NOT NULL ORDER BY seq LIMIT ${MOST_AT_ONCE}`,
  );
  const done = database.prepare(
    'UPDATE update_inbox SET body = NULL, kept_at = ? WHERE bot = ? AND update_id = ?',
  );
  const wakers = new Set<() => void>();
  const forgetOld = () => void forget.run(now() - KNOWN_MS, now() + KNOWN_MS);
  return {
    keep(id, body) {
      forgetOld();
      insert.run(bot, id, body, now());
      for (const wake of wakers) wake();
    },
    isKnown(id) {
      forgetOld();
      return find.get(bot, id) !== undefined;
    },
    // It was an update when it was kept.
    waiting: () => waiting.all(bot).map((row) => JSON.parse(Row.parse(row).body) as Update),
    done: (id) => void done.run(now(), bot, id),
    async next(signal) {
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      wakers.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      wakers.delete(resolve);
    },
  };
}

type Emptying = {
  readonly inbox: UpdateInbox;
  readonly me: UserFromGetMe;
  readonly signal: AbortSignal;
  readonly clock: ChannelClock;
  readonly log: ChannelLog;
  readonly take: (updates: readonly Update[], me: UserFromGetMe) => Promise<void>;
};

/** Hands over what waits, in order and albums as a whole. Returns false where the host did not store an update. */
export async function emptyInbox(emptying: Emptying): Promise<boolean> {
  const { inbox, me, signal, log, take } = emptying;
  for (;;) {
    const updates = await wholeAlbums(emptying);
    if (updates.length === 0 || signal.aborted) return true;
    for (const unit of together(updates)) {
      try {
        await take(unit, me);
      } catch (error) {
        log.warn('a message from Telegram was not stored and will be tried again', {
          updateId: unit[0]?.update_id,
          cause: error instanceof Error ? error.message : String(error),
        });
        return false;
      }
      for (const { update_id: id } of unit) inbox.done(id);
    }
  }
}

/** Where the last update that waits is part of an album, waits until no more of it come. */
async function wholeAlbums({ inbox, clock, signal }: Emptying): Promise<readonly Update[]> {
  let updates = inbox.waiting();
  for (let looks = 0; looks < MOST_ALBUM_LOOKS; looks += 1) {
    if (albumOf(updates.at(-1)) === null || signal.aborted) break;
    await clock.pause(ALBUM_PAUSE_MS, signal);
    const now = inbox.waiting();
    if (now.length <= updates.length) break;
    updates = now;
  }
  return updates;
}
