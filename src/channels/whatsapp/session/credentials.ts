import type {
  AuthenticationCreds,
  AuthenticationState,
  SignalDataSet,
  SignalDataTypeMap,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import type { ChannelLog } from '../../channel.ts';
import type { Inbox } from '../inbound/inbox.ts';
import { CommitBeforeSend } from '../outbound/commit-before-send.ts';
import type { Baileys } from './baileys.ts';
import type { LinkDatabase } from './link-database.ts';

const LOAD = 'SELECT json, is_removed FROM credentials';
const Row = z.object({ json: z.string(), is_removed: z.int() });
const KeyRow = z.object({ id: z.string(), json: z.string() });
/** The fields that only paired credentials have; the rest of their shape is Baileys'. */
const Paired = z.looseObject({ account: z.looseObject({}), me: z.looseObject({ id: z.string() }) });

/** This device's identity and keys. */
export interface Credentials {
  /** True if the owner's phone has accepted this device, and not removed it since. */
  readonly isPaired: boolean;
  /** The phone number of the account, or null. */
  readonly phoneNumber: string | null;
  /** Returns Baileys' own view; `inbox` rows go to disk together with the keys that decrypted them. */
  state(inbox: Inbox): AuthenticationState;
  /** The same, where keys are written with one commit for a burst, before anything is sent. */
  gatheredState(
    inbox: Inbox,
    log: ChannelLog,
  ): { readonly auth: AuthenticationState; readonly commits: CommitBeforeSend };
  save(creds: AuthenticationCreds): void;
  /** Takes the place of a device that was paired before; its keys and what it received go. */
  replace(creds: AuthenticationCreds): void;
  /** WhatsApp has removed this device. The keys stay until another takes its place. */
  markRemoved(): void;
}

/** Keys by type and id, as they are written; null for those that are to be forgotten. */
type Unsaved = { [type: string]: { [id: string]: string | null } };

/** Tells whether a link database holds a pairing, without loading Baileys. */
export function hasPairing({ database }: LinkDatabase): boolean {
  const row = Row.optional().parse(database.prepare(LOAD).get());
  return (
    row !== undefined && row.is_removed === 0 && Paired.safeParse(JSON.parse(row.json)).success
  );
}

/** Tells whether WhatsApp has removed the device that a link database holds. */
export function wasRemoved({ database }: LinkDatabase): boolean {
  return Row.optional().parse(database.prepare(LOAD).get())?.is_removed === 1;
}

/**
 * Returns the credentials in a link database; every change is one transaction, so that a crash leaves old or
 * new.
 */
export function openCredentials({ database }: LinkDatabase, baileys: Baileys): Credentials {
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
    return row === undefined ? null : restored(type, unpack(row.json));
  }

  function restored<T extends keyof SignalDataTypeMap>(type: T, value: unknown) {
    // Baileys compares and encodes these as messages of its protocol, not as plain objects.
    const isMessage = type === 'app-state-sync-key' && typeof value === 'object' && value !== null;
    // What is kept under a type was set under it.
    return (
      isMessage ? proto.Message.AppStateSyncKeyData.fromObject(value) : value
    ) as SignalDataTypeMap[T];
  }

  function readKeys<T extends keyof SignalDataTypeMap>(type: T, ids: readonly string[]) {
    const found: { [id: string]: SignalDataTypeMap[T] } = {};
    for (const id of ids) {
      const value = database.open ? readKey(type, id) : null;
      if (value !== null) found[id] = value;
    }
    return found;
  }

  const commit = database.transaction((keys: Unsaved, inbox: Inbox) => {
    for (const [type, values] of Object.entries(keys)) {
      for (const [id, json] of Object.entries(values)) {
        if (json === null) forgetKey.run(type, id);
        else saveKey.run(type, id, json);
      }
    }
    inbox.writePending();
  });

  function packed(data: SignalDataSet): Unsaved {
    const keys: Unsaved = {};
    for (const [type, values] of Object.entries(data)) {
      const entries = Object.entries(values).map(([id, value]) => [
        id,
        value === null || value === undefined ? null : pack(value),
      ]);
      keys[type] = Object.fromEntries(entries);
    }
    return keys;
  }

  return {
    get isPaired() {
      return paired() !== null;
    },
    get phoneNumber() {
      return paired()?.me?.id.split(/[:@]/, 1)[0] ?? null;
    },
    state(inbox) {
      return {
        creds: paired() ?? baileys.initAuthCreds(),
        keys: {
          get: readKeys,
          // A socket that has ended may still tidy up after the link database is closed: nothing depends on that.
          set(data) {
            if (!database.open) return;
            commit(packed(data), inbox);
            inbox.forgetWritten();
          },
        },
      };
    },
    gatheredState(inbox, log) {
      const unsaved: Unsaved = {};
      const write = (): void => {
        if (!database.open) return;
        commit(unsaved, inbox);
        inbox.forgetWritten();
        for (const type of Object.keys(unsaved)) delete unsaved[type];
      };
      const commits = new CommitBeforeSend(write, log);
      const auth = {
        creds: paired() ?? baileys.initAuthCreds(),
        keys: {
          get<T extends keyof SignalDataTypeMap>(type: T, ids: string[]) {
            const changed = unsaved[type] ?? {};
            const isChanged = (id: string) => Object.hasOwn(changed, id);
            const found = readKeys(
              type,
              ids.filter((id) => !isChanged(id)),
            );
            for (const id of ids.filter(isChanged)) {
              const value = changed[id];
              // What is kept under a type was set under it; Baileys must not share it with us.
              if (value) found[id] = restored(type, unpack(value));
            }
            return found;
          },
          set(data: SignalDataSet) {
            for (const [type, values] of Object.entries(packed(data))) {
              unsaved[type] = { ...unsaved[type], ...values };
            }
            commits.change();
          },
        },
      };
      return { auth, commits };
    },
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
