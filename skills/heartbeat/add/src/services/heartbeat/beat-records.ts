import { z } from 'zod';
import type { OwnDatabase } from '../../lib/own-database.ts';

/** The end of a beat. */
export type BeatOutcome = 'quiet' | 'said' | 'failed' | 'unpaid' | 'busy' | 'asleep' | 'empty';

/** The memory of the heartbeat, which outlives the process. */
export interface Beats {
  /** Returns the moment of the last beat; null before the first. */
  last(): number | null;
  /** Notes that a beat was due, before anything is done about it. */
  begin(at: number): void;
  count(day: string, outcome: BeatOutcome): void;
  /** Returns how often each end was counted on a day. */
  of(day: string): Readonly<Partial<Record<BeatOutcome, number>>>;
  /** Tells whether the owner was told that beats fail. */
  isFailing(): boolean;
  setFailing(isFailing: boolean): void;
}

/** Changes of the database, in order. */
export const BEATS = [
  `CREATE TABLE state (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
   CREATE TABLE beats (
     day TEXT NOT NULL, outcome TEXT NOT NULL, number INTEGER NOT NULL,
     PRIMARY KEY (day, outcome)
   ) STRICT, WITHOUT ROWID;`,
];

/** So many ends of beats are kept, some days' worth. */
const KEPT_ROWS = 100;

const Value = z.object({ value: z.int() });
const Counted = z.object({ outcome: z.string(), number: z.int() });

/** Opens the memory on the service's own database. */
export function openBeats(database: OwnDatabase): Beats {
  const get = database.prepare('SELECT value FROM state WHERE key = ?');
  const set = database.prepare(
    'INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  const count = database.prepare(
    'INSERT INTO beats VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET number = number + 1',
  );
  const trim = database.prepare(
    `DELETE FROM beats WHERE day < (SELECT day FROM beats ORDER BY day DESC LIMIT 1 OFFSET ${KEPT_ROWS})`,
  );
  const of = database.prepare('SELECT outcome, number FROM beats WHERE day = ?');
  const read = (key: string) => Value.optional().parse(get.get(key))?.value ?? null;
  return {
    last: () => read('last'),
    begin: (at) => void set.run('last', at),
    count(day, outcome) {
      count.run(day, outcome);
      trim.run();
    },
    of: (day) => Object.fromEntries(of.all(day).map((row) => Object.values(Counted.parse(row)))),
    isFailing: () => read('failing') === 1,
    setFailing: (isFailing) => void set.run('failing', isFailing ? 1 : 0),
  };
}
