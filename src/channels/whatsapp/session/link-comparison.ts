/*
 * Tells which of two copies of a link to WhatsApp is newer, by counters that only rise while a link lives:
 *
 *     credentials         the numbers of the next key to make and of the next to hand in, and of the signed key
 *     session             of each chain of messages with a device, how many keys were used
 *     sender-key          of each person's key in a group, the same
 *     app-state-sync-...  the version of each part of the account's settings
 *
 * Times are not compared: clocks go wrong. A copy of the same device in which nothing is lower and something is higher is
 * newer. Two in which both went on cannot be put together: the far ends know each key as used once.
 */
import Database from 'better-sqlite3';
import { z } from 'zod';

/** The relation of another copy of a link to the present one. */
export type LinkComparison =
  | 'not paired'
  | 'another device'
  | 'same'
  | 'newer'
  | 'older'
  | 'both went on'
  | 'unreadable';

const Credentials = z.looseObject({
  account: z.looseObject({}),
  signedIdentityKey: z.looseObject({ public: z.unknown() }),
  signedPreKey: z.looseObject({ keyId: z.int() }).optional(),
  nextPreKeyId: z.int().optional(),
  firstUnuploadedPreKeyId: z.int().optional(),
});
const Session = z.looseObject({
  _sessions: z.record(
    z.string(),
    z.looseObject({
      _chains: z.record(
        z.string(),
        z.looseObject({ chainKey: z.looseObject({ counter: z.int() }) }),
      ),
    }),
  ),
});
const Bytes = z.object({ type: z.literal('Buffer'), data: z.string() });
const SenderKeys = z.array(
  z.looseObject({
    senderKeyId: z.int(),
    senderChainKey: z.looseObject({ iteration: z.int() }),
  }),
);
const AppState = z.looseObject({ version: z.int() });
const Row = z.object({ type: z.string(), id: z.string(), json: z.string() });
const Own = z.object({ json: z.string() });

type Link = { readonly device: string | null; readonly counters: ReadonlyMap<string, number> };

/**
 * Compares the link databases of a backup and of an installation.
 *
 * @param here the database of the link that is there
 * @param other the one that would take its place
 */
export function compareLinks(here: string, other: string): LinkComparison {
  try {
    const [mine, theirs] = [readLink(here), readLink(other)];
    if (mine.device === null) return 'not paired';
    if (theirs.device !== mine.device) return 'another device';
    return compareCounters(mine.counters, theirs.counters);
  } catch (error) {
    const isOurs = error instanceof Database.SqliteError || error instanceof z.ZodError;
    if (isOurs || error instanceof SyntaxError) return 'unreadable';
    throw error;
  }
}

function compareCounters(mine: Link['counters'], theirs: Link['counters']): LinkComparison {
  let isLower = false;
  let isHigher = false;
  for (const name of new Set([...mine.keys(), ...theirs.keys()])) {
    // One that is missing has not begun, or is over: then something else has risen.
    const [here, there] = [mine.get(name) ?? -1, theirs.get(name) ?? -1];
    if (there < here) isLower = true;
    if (there > here) isHigher = true;
  }
  if (isLower) return isHigher ? 'both went on' : 'older';
  return isHigher ? 'newer' : 'same';
}

function readLink(path: string): Link {
  const database = new Database(path, { readonly: true, fileMustExist: true, timeout: 100 });
  try {
    const row = Own.optional().parse(database.prepare('SELECT json FROM credentials').get());
    const own = row === undefined ? undefined : Credentials.safeParse(JSON.parse(row.json)).data;
    if (own === undefined) return { device: null, counters: new Map() };
    const counters = new Map([
      ['next key', own.nextPreKeyId ?? 0],
      ['next key to hand in', own.firstUnuploadedPreKeyId ?? 0],
      ['signed key', own.signedPreKey?.keyId ?? 0],
    ]);
    const keys = database.prepare(
      "SELECT type, id, json FROM keys WHERE type IN ('session', 'sender-key', 'app-state-sync-version')",
    );
    for (const found of keys.iterate()) {
      const { type, id, json } = Row.parse(found);
      for (const [name, count] of countersIn(type, JSON.parse(json))) {
        counters.set(`${type} ${id} ${name}`, count);
      }
    }
    return { device: JSON.stringify(own.signedIdentityKey.public), counters };
  } finally {
    database.close();
  }
}

function countersIn(type: string, value: unknown): readonly (readonly [string, number])[] {
  if (type === 'session') {
    return Object.entries(Session.parse(value)._sessions).flatMap(([base, { _chains }]) =>
      Object.entries(_chains).map(
        ([ratchet, { chainKey }]) => [`${base} ${ratchet}`, chainKey.counter] as const,
      ),
    );
  }
  if (type === 'sender-key') {
    const text = Buffer.from(Bytes.parse(value).data, 'base64').toString('utf8');
    return SenderKeys.parse(JSON.parse(text)).map(
      ({ senderKeyId, senderChainKey }) => [String(senderKeyId), senderChainKey.iteration] as const,
    );
  }
  return [['version', AppState.parse(value).version]];
}
