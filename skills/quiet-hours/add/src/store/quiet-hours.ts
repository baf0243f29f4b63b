import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { isQuietAt, msToNextBorder } from '../lib/quiet-hours/hours.ts';
import type { Meta } from './meta.ts';
import { NOTHING_QUIET, type Quiet } from './quiet-outbox.ts';
import type { Store, Turn } from './store.ts';

const KEY = 'quiet-hours';
/** A clock can be set, and summer time begins: an end that was computed is looked at again after this time. */
const MAX_LOOK_MS = 10 * 60_000;

const Hours = z.object({ from: z.int().min(0).max(1439), to: z.int().min(0).max(1440) });
const Rule = z.object({
  /** Null where the hours for all chats count. */
  hours: z
    .object({
      weekdays: Hours.nullable(),
      weekends: Hours.nullable(),
      timeZone: z.string().max(100),
    })
    .nullable(),
  /** The end of a quiet time that the owner began by hand; null where the one for all chats counts. */
  until: z.number().nullable(),
});
const Book = z.object({
  all: Rule,
  /** By the folder of a chat. */
  chats: z.record(z.string().max(200), Rule),
  urgentWords: z.array(z.string().max(100)).max(50),
  urgentTasks: z.array(z.int()).max(200),
});

/** A rule for one chat, or for all. */
export type QuietRule = Readonly<z.output<typeof Rule>>;

/** All that the owner has said about quiet hours. */
export type QuietBook = Readonly<z.output<typeof Book>>;

export const NO_RULE: QuietRule = { hours: null, until: null };
const EMPTY: QuietBook = { all: NO_RULE, chats: {}, urgentWords: [], urgentTasks: [] };

/** Reads the owner's rules. Null where the row cannot be read, which holds nothing. */
export function parseQuietBook(kept: string | null): QuietBook | null {
  if (kept === null) return EMPTY;
  try {
    return Book.safeParse(JSON.parse(kept)).data ?? null;
  } catch {
    return null; // It is no JSON, and the doctor says so.
  }
}

/** Returns the owner's rules; none where they cannot be read. */
export function readQuietBook(meta: Pick<Meta, 'get'>): QuietBook {
  return parseQuietBook(meta.get(KEY)) ?? EMPTY;
}

/** Returns the row of the rules in a database that is opened to look at it; null for none. */
export function quietRow(database: Database): string | null {
  const row = database.prepare('SELECT value FROM meta WHERE key = ?').get(KEY);
  return row === undefined ? null : z.object({ value: z.string() }).parse(row).value;
}

export function writeQuietBook(meta: Pick<Meta, 'set'>, book: QuietBook): void {
  meta.set(KEY, JSON.stringify(book));
}

/** Returns the rule that counts in a chat: its own where it says something, else the one for all. */
export function ruleFor(book: QuietBook, folder: string): QuietRule {
  const own = Object.hasOwn(book.chats, folder) ? book.chats[folder] : undefined;
  return { hours: own?.hours ?? book.all.hours, until: own?.until ?? book.all.until };
}

/** Tells whether a rule makes a moment quiet. */
export function isQuiet({ hours, until }: QuietRule, now: number): boolean {
  return (until ?? 0) > now || (hours !== null && isQuietAt(hours, now));
}

/** Returns the chats that are quiet now, and in how many milliseconds that is to be looked at again. */
export function quietChats(
  { meta, groups }: Pick<Store, 'meta' | 'groups'>,
  now: number,
): Quiet & { readonly nextLookMs: number } {
  const book = readQuietBook(meta);
  const rules = [book.all, ...Object.values(book.chats)];
  if (rules.every(({ hours, until }) => hours === null && (until ?? 0) <= now)) {
    return { ...NOTHING_QUIET, nextLookMs: Number.POSITIVE_INFINITY };
  }
  const quiet = groups.all().filter(({ folder }) => isQuiet(ruleFor(book, folder), now));
  const changes = rules.flatMap(({ hours, until }) => [
    ...(until !== null && until > now ? [until - now] : []),
    ...(hours === null ? [] : [msToNextBorder(hours, now)]),
  ]);
  return {
    jids: quiet.map(({ jid }) => jid),
    words: book.urgentWords,
    tasks: book.urgentTasks,
    // While nothing is quiet, nothing waits for an end.
    nextLookMs: quiet.length === 0 ? Number.POSITIVE_INFINITY : Math.min(MAX_LOOK_MS, ...changes),
  };
}

/** Tells whether what a turn says now waits for the end of quiet hours: then no draft of it is shown either. */
export function isTurnHeld(store: Store, turn: Pick<Turn, 'id' | 'jid'>, now: number): boolean {
  const quiet = quietChats(store, now);
  return quiet.jids.includes(turn.jid) && store.outbox.holding.holds(quiet, turn, now);
}
