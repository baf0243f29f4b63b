import { z } from 'zod';
import type { Baileys } from './baileys.ts';
import type { LinkDatabase } from './link-database.ts';

/** The web version that is presented to WhatsApp, which refuses old ones after some months. */
export type WebVersion = readonly [number, number, number];

const Row = z.object({ value: z.string() });
const Version = z.tuple([z.int(), z.int(), z.int()]);
const KEY = 'web version';

/** Returns the newer one of the version that the library was made for and the one that was fetched since. */
export function readVersion({ database }: LinkDatabase, baileys: Baileys): WebVersion {
  const own = Version.parse(baileys.DEFAULT_CONNECTION_CONFIG.version);
  const row = Row.optional().parse(
    database.prepare('SELECT value FROM meta WHERE key = ?').get(KEY),
  );
  const kept = row === undefined ? null : Version.parse(JSON.parse(row.value));
  return kept !== null && kept[2] > own[2] ? kept : own;
}

/** Keeps a version that was fetched. */
export function keepVersion({ database }: LinkDatabase, version: WebVersion): void {
  database
    .prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)')
    .run(KEY, JSON.stringify(version));
}

/** Asks WhatsApp for the present version of its web client; null if it does not say. */
export async function fetchVersion(baileys: Baileys): Promise<WebVersion | null> {
  const signal = AbortSignal.timeout(10_000);
  const { version, isLatest } = await baileys.fetchLatestWaWebVersion({ signal });
  return isLatest ? version : null;
}
