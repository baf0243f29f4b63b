import { join } from 'node:path';
import { z } from 'zod';
import { openLinkDatabase } from '../channels/whatsapp/session/link-database.ts';
import { jsonWithin, MESSENGER_BOUNDS } from '../lib/bounded-json.ts';
import type { LeftBehind, SourceLink } from './imported-items.ts';
import { namesIn, readSourceText } from './source-files.ts';

/** The kinds of keys that Baileys writes into files of their own; longer names first, since some begin alike. */
const KEY_TYPES = [
  'app-state-sync-version',
  'app-state-sync-key',
  'sender-key-memory',
  'identity-key',
  'lid-mapping',
  'device-list',
  'sender-key',
  'pre-key',
  'session',
  'tctoken',
] as const;

const Credentials = z.looseObject({
  account: z.looseObject({}),
  me: z.looseObject({ id: z.string().max(200) }),
});

/**
 * Reads a link to WhatsApp that Baileys keeps as a folder of files: `creds.json`, and a file for each key, whose name is
 * the kind and the id with `/` written as `__` and `:` as `-`. Null where nothing is paired.
 */
export function readWhatsAppFolder(folder: string): {
  readonly link: SourceLink | null;
  readonly leftBehind: readonly LeftBehind[];
} {
  const credentials = readSourceText(join(folder, 'creds.json'));
  if (credentials === null) return { link: null, leftBehind: [] };
  const paired = Credentials.safeParse(jsonWithin(credentials, MESSENGER_BOUNDS)).data;
  if (paired === undefined) {
    const why = 'its creds.json is of no paired device; pair again: npx claw setup whatsapp';
    return { link: null, leftBehind: [{ what: 'the link to WhatsApp', why }] };
  }
  const keys = namesIn(folder).flatMap((name) => {
    const key = keyNamed(name);
    const json = key === null ? null : readSourceText(join(folder, name));
    const isJson = json !== null && jsonWithin(json, MESSENGER_BOUNDS) !== undefined;
    return key === null || !isJson ? [] : [{ ...key, json }];
  });
  const phoneNumber = paired.me.id.split(/[:@]/, 1)[0] ?? null;
  const isKnown = (name: string) => keyNamed(name) !== null || /^creds\.json(\.bak)?$/.test(name);
  const leftBehind = namesIn(folder)
    .filter((name) => !isKnown(name))
    .map((name) => ({ what: join(folder, name), why: 'no key of WhatsApp that is known here' }));
  return { link: { phoneNumber, credentials, keys }, leftBehind };
}

function keyNamed(file: string): { readonly type: string; readonly id: string } | null {
  const name = file.endsWith('.json') ? file.slice(0, -'.json'.length) : '';
  const type = KEY_TYPES.find((known) => name.startsWith(`${known}-`));
  if (type === undefined) return null;
  const written = name.slice(type.length + 1).replaceAll('__', '/');
  // Only these ids have colons: `<group>::<sender>::<device>`. Old groups have a dash of their own.
  return { type, id: type === 'sender-key' ? written.replaceAll('--', '::') : written };
}

/** Writes a link as the database of the WhatsApp channel, into `<dataDir>/whatsapp/link.db`. */
export function writeLinkDatabase(dataDir: string, link: SourceLink, now: number): void {
  const { database, close } = openLinkDatabase(dataDir, () => now);
  try {
    const saveKey = database.prepare(
      'INSERT OR REPLACE INTO keys (type, id, json) VALUES (?, ?, ?)',
    );
    database.transaction(() => {
      database.prepare('INSERT INTO credentials (id, json) VALUES (1, ?)').run(link.credentials);
      for (const { type, id, json } of link.keys) saveKey.run(type, id, json);
    })();
    // The file is moved alone: everything must be in it, and nothing in its log.
    database.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    close();
  }
}
