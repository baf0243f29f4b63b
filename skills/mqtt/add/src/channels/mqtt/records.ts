import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { OpenDatabase } from '../../lib/own-database.ts';

/** A part of a message on its way to the broker. */
export type KeptPublish = {
  /** The number under which the broker knows it. */
  readonly packet: number;
  readonly topic: string;
  readonly payload: string;
  readonly qos: 1 | 2;
  /** The broker has it, and waits to be told to pass it on. */
  readonly isReleased: boolean;
};

/** The name of a part: the host's id of the message, and the place in it. */
export type PartName = { readonly id: string; readonly at: number };

/** Both directions of the session with the broker, on disk, so that a crash repeats and loses nothing. */
export interface Records {
  /** Returns the client id of this installation, which is made of `fresh` the first time. */
  clientId(fresh: string): string;
  /**
   * Returns the id under which the host gets a message: that of the first time where the broker repeats one, because it
   * has not heard that it was taken.
   */
  idOf(message: {
    readonly packet: number;
    readonly isRepeat: boolean;
    readonly topic: string;
    readonly payload: Uint8Array;
    readonly fresh: string;
  }): string;
  /** The broker knows nothing of an earlier session: its numbers begin anew. */
  forgetSession(): void;
  stateOf(part: PartName): 'new' | 'underway' | 'done';
  begin(part: PartName, publish: Omit<KeptPublish, 'isReleased'>): void;
  release(packet: number): void;
  done(packet: number): void;
  /** Returns what is on its way, in order. */
  underway(): readonly KeptPublish[];
}

const MIGRATIONS = [
  `CREATE TABLE identity (client_id TEXT NOT NULL) STRICT;
   CREATE TABLE received (packet INTEGER PRIMARY KEY, id TEXT NOT NULL, digest TEXT NOT NULL) STRICT;
   CREATE TABLE published (
     seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, part INTEGER NOT NULL, packet INTEGER NOT NULL,
     topic TEXT NOT NULL, payload TEXT NOT NULL, qos INTEGER NOT NULL,
     state TEXT NOT NULL CHECK (state IN ('sent', 'released', 'done')), at INTEGER NOT NULL, UNIQUE (id, part)
   ) STRICT;
   CREATE INDEX published_underway ON published (packet) WHERE state <> 'done';`,
];
/** The host publishes nothing again that is older. */
const KEPT_MS = 7 * 86_400_000;

const Identity = z.object({ client_id: z.string() });
const Received = z.object({ id: z.string(), digest: z.string() });
const State = z.object({ state: z.enum(['sent', 'released', 'done']) });
const Underway = z.object({
  packet: z.int(),
  topic: z.string(),
  payload: z.string(),
  qos: z.union([z.literal(1), z.literal(2)]),
  state: z.enum(['sent', 'released']),
});

/** Opens the records in the channel's own database. */
export function openRecords(openDatabase: OpenDatabase, now: () => number): Records {
  const database = openDatabase(MIGRATIONS);
  const identity = database.prepare('SELECT client_id FROM identity');
  const identify = database.prepare('INSERT INTO identity VALUES (?)');
  const received = database.prepare('SELECT id, digest FROM received WHERE packet = ?');
  const receive = database.prepare(
    'INSERT OR REPLACE INTO received VALUES (:packet, :id, :digest)',
  );
  const state = database.prepare('SELECT state FROM published WHERE id = :id AND part = :at');
  const begin = database.prepare(
    `INSERT INTO published (id, part, packet, topic, payload, qos, state, at)
     VALUES (:id, :part, :packet, :topic, :payload, :qos, 'sent', :now)`,
  );
  const move = database.prepare(
    "UPDATE published SET state = :state WHERE packet = :packet AND state <> 'done'",
  );
  const finish = database.prepare(
    "UPDATE published SET state = 'done', payload = '' WHERE packet = ? AND state <> 'done'",
  );
  const underway = database.prepare("SELECT * FROM published WHERE state <> 'done' ORDER BY seq");
  const forgetReceived = database.prepare('DELETE FROM received');
  // A broker without the session has not passed on what it was not told to.
  const unrelease = database.prepare(
    "UPDATE published SET state = 'sent' WHERE state = 'released'",
  );
  database.prepare("DELETE FROM published WHERE state = 'done' AND at < ?").run(now() - KEPT_MS);

  return {
    clientId(fresh) {
      const row = identity.get();
      if (row !== undefined) return Identity.parse(row).client_id;
      identify.run(fresh);
      return fresh;
    },
    idOf({ packet, isRepeat, topic, payload, fresh }) {
      const digest = createHash('sha256').update(`${topic}\0`).update(payload).digest('base64url');
      const row = isRepeat ? received.get(packet) : undefined;
      const known = row === undefined ? null : Received.parse(row);
      if (known?.digest === digest) return known.id;
      receive.run({ packet, id: fresh, digest });
      return fresh;
    },
    forgetSession() {
      forgetReceived.run();
      unrelease.run();
    },
    stateOf(part) {
      const row = state.get(part);
      if (row === undefined) return 'new';
      return State.parse(row).state === 'done' ? 'done' : 'underway';
    },
    begin({ id, at }, publish) {
      begin.run({ id, part: at, ...publish, now: now() });
    },
    release: (packet) => void move.run({ packet, state: 'released' }),
    done: (packet) => void finish.run(packet),
    underway: () =>
      underway.all().map((row) => {
        const { state: at, ...publish } = Underway.parse(row);
        return { ...publish, isReleased: at === 'released' };
      }),
  };
}
