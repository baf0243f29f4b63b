import type {
  AuthenticationCreds,
  AuthenticationState,
  SignalDataSet,
  SignalDataTypeMap,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import type { Baileys } from './baileys.ts';
import type { Inbox } from './inbox.ts';
import type { Vault } from './vault.ts';

const LOAD = 'SELECT json, is_removed FROM credentials';
const Row = z.object({ json: z.string(), is_removed: z.int() });
const KeyRow = z.object({ id: z.string(), json: z.string() });
/** What tells paired credentials from others; the rest of their shape is Baileys'. */
const Paired = z.looseObject({ account: z.looseObject({}), me: z.looseObject({ id: z.string() }) });

/** Who this device is, and its keys. */
export interface Credentials {
  /** Whether the owner's phone has accepted this device, and not removed it since. */
  readonly isPaired: boolean;
  /** The phone number of the account, or null. */
  readonly phoneNumber: string | null;
  /** What Baileys works with; `inbox` rows go to disk together with the keys that decrypted them. */
  state(inbox: Inbox): AuthenticationState;
  save(creds: AuthenticationCreds): void;
  /** Takes the place of a device that was paired before; its keys and what it received go. */
  replace(creds: AuthenticationCreds): void;
  /** WhatsApp has removed this device. The keys stay until another takes its place. */
  markRemoved(): void;
}

/** Whether a vault holds a pairing; tells without the library that would use it. */
export function hasPairing({ database }: Vault): boolean {
  const row = Row.optional().parse(database.prepare(LOAD).get());
  return (
    row !== undefined && row.is_removed === 0 && Paired.safeParse(JSON.parse(row.json)).success
  );
}

/** The credentials in a vault; every change is one transaction, so that a crash leaves old or new. */
export function credentialsIn({ database }: Vault, baileys: Baileys): Credentials {
  const { BufferJSON, proto } = baileys;
  const load = database.prepare(LOAD);
  const save = database.prepare(`
    INSERT INTO credentials (id, json) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET json = excluded.json`);
  const forget = database.prepare('DELETE FROM credentials');
  const forgetKeys = database.prepare('DELETE FROM keys');
  const forgetInbox = database.prepare('DELETE FROM inbox');
  const remove = database.prepare('UPDATE credentials SET is_removed = 1');
  const loadKey = database.prepare('SELECT id, json FROM keys WHERE type = ? AND id = ?');
  const saveKey = database.prepare('INSERT OR REPLACE INTO keys (type, id, json) VALUES (?, ?, ?)');
  const forgetKey = database.prepare('DELETE FROM keys WHERE type = ? AND id = ?');
  const pack = (value: unknown): string => JSON.stringify(value, BufferJSON.replacer);
  const unpack = (json: string): unknown => JSON.parse(json, BufferJSON.reviver);

  function paired(): AuthenticationCreds | null {
    const row = Row.optional().parse(load.get());
    if (row === undefined || row.is_removed === 1) return null;
    const creds = unpack(row.json);
    // Written by `save` or `replace` from Baileys' own value.
    return Paired.safeParse(creds).success ? (creds as AuthenticationCreds) : null;
  }

  function readKey<T extends keyof SignalDataTypeMap>(type: T, id: string) {
    const row = KeyRow.optional().parse(loadKey.get(type, id));
    if (row === undefined) return null;
    const value = unpack(row.json);
    // Baileys compares and encodes these as messages of its protocol, not as plain objects.
    const isMessage = type === 'app-state-sync-key' && typeof value === 'object' && value !== null;
    const restored = isMessage ? proto.Message.AppStateSyncKeyData.fromObject(value) : value;
    // What is kept under a type was set under it.
    return restored as SignalDataTypeMap[T];
  }

  function writeKeys(data: SignalDataSet): void {
    for (const [type, values] of Object.entries(data)) {
      for (const [id, value] of Object.entries(values)) {
        if (value === null || value === undefined) forgetKey.run(type, id);
        else saveKey.run(type, id, pack(value));
      }
    }
  }

  return {
    get isPaired() {
      return paired() !== null;
    },
    get phoneNumber() {
      return paired()?.me?.id.split(/[:@]/, 1)[0] ?? null;
    },
    state: (inbox) => ({
      creds: paired() ?? baileys.initAuthCreds(),
      keys: {
        get(type, ids) {
          const found: { [id: string]: SignalDataTypeMap[typeof type] } = {};
          for (const id of ids) {
            const value = database.open ? readKey(type, id) : null;
            if (value !== null) found[id] = value;
          }
          return found;
        },
        // A socket that has ended may still tidy up after the vault is closed: nothing depends on that.
        set(data) {
          if (!database.open) return;
          database.transaction(() => {
            writeKeys(data);
            inbox.writePending();
          })();
        },
      },
    }),
    save(creds) {
      if (database.open) save.run(pack(creds));
    },
    replace: database.transaction((creds: AuthenticationCreds) => {
      forget.run();
      forgetKeys.run();
      forgetInbox.run();
      save.run(pack(creds));
    }),
    markRemoved: () => void remove.run(),
  };
}
