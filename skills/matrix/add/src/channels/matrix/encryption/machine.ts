import type {
  OlmMachine,
  OutgoingRequest,
  ToDeviceRequest,
} from '@matrix-org/matrix-sdk-crypto-wasm';
import { z } from 'zod';
import { type MatrixApi, pathOf } from '../api.ts';
import { isRefusal } from '../failure.ts';
import type { KeyRecords } from '../records/key-records.ts';
import { type KeyStore, openKeyStore } from './key-store.ts';

/** The library, which is eight megabytes and loaded where a room is encrypted. */
export type Library = typeof import('@matrix-org/matrix-sdk-crypto-wasm');

/** A device of an account, as the server knows it. */
export type Device = { readonly userId: string; readonly deviceId: string };

/** The part of a sync about encryption. */
export type KeyNews = {
  readonly toDevice: readonly unknown[];
  readonly changed: readonly string[];
  readonly left: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  readonly fallbacks: readonly string[] | null;
};

/** An event that was decrypted, or the reason why it was not. */
export type Decrypted =
  | { readonly kind: 'decrypted'; readonly event: unknown }
  /** The key may come yet. */
  | { readonly kind: 'no key' };

/** Keys of one device, and what can be done with them. Whatever it changes is on disk when it resolves. */
export interface Machine {
  receive(news: KeyNews): Promise<void>;
  decrypt(event: unknown, roomId: string): Promise<Decrypted>;
  /** Encrypts the content of an event for these people, after their devices were given the room's key. */
  encrypt(
    roomId: string,
    event: { readonly type: string; readonly content: object },
    members: readonly string[],
  ): Promise<unknown>;
  encryptFile(content: Uint8Array): { readonly content: Uint8Array; readonly keys: unknown };
  /** @throws Error for a file that is not the one that was sent */
  decryptFile(content: Uint8Array, keys: string): Uint8Array;
  close(): Promise<void>;
}

/** The keys of this device are on the server, and not here: they were deleted, or the token was used elsewhere. */
export class KeysLost extends Error {
  override readonly name = 'KeysLost';
}

const KeyList = z.looseObject({
  device_keys: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  master_keys: z.record(z.string(), z.unknown()).default({}),
});

const KeyAnswer = z.looseObject({
  device_keys: z.record(z.string(), z.unknown()).default({}),
  failures: z.record(z.string(), z.unknown()).default({}),
});

/**
 * Loads the library and the keys, and makes them known where they are new.
 *
 * @param onBroken told when the disk does not take keys: this machine is of no more use then
 * @throws KeysLost
 * @throws MatrixFailure
 */
export async function openMachine(
  api: MatrixApi,
  records: KeyRecords,
  { userId, deviceId }: Device,
  onBroken: () => void,
): Promise<Machine> {
  const device = `${userId} ${deviceId}`;
  const published = KeyList.parse(
    await api.call('POST', '/keys/query', { body: { device_keys: { [userId]: [] } } }),
  );
  const isPublished = published.device_keys[userId]?.[deviceId] !== undefined;
  if (isPublished && records.device() !== device) throw new KeysLost('The keys were lost.');
  const library = await import('@matrix-org/matrix-sdk-crypto-wasm');
  await library.initAsync();
  const store = await openKeyStore(records, device);
  const handle = await library.StoreHandle.open(store.name, null);
  const machine = await library.OlmMachine.initFromStore(
    new library.UserId(userId),
    new library.DeviceId(deviceId),
    handle,
  );
  // The library holds the store itself; it is open for as long as anybody does.
  handle.free();
  await store.settle();
  const keys = new Keys(library, machine, { api, store, onBroken });
  try {
    await keys.publish(published.master_keys[userId] === undefined);
  } catch (error) {
    await keys.close();
    throw error;
  }
  return keys;
}

class Keys implements Machine {
  readonly #library: Library;
  readonly #machine: OlmMachine;
  readonly #api: MatrixApi;
  readonly #store: KeyStore;
  readonly #onBroken: () => void;
  #isBroken = false;
  /** The library wants its calls one after the other, and the disk is written after each. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    library: Library,
    machine: OlmMachine,
    parts: { readonly api: MatrixApi; readonly store: KeyStore; readonly onBroken: () => void },
  ) {
    this.#library = library;
    this.#machine = machine;
    this.#api = parts.api;
    this.#store = parts.store;
    this.#onBroken = parts.onBroken;
  }

  /** Uploads keys that the server lacks; a first device also signs itself for its account. */
  publish(isFirst: boolean): Promise<void> {
    return this.#inTurn(async () => {
      await this.#sendWaiting();
      if (isFirst) await this.#signItself();
    });
  }

  receive({ toDevice, changed, left, counts, fallbacks }: KeyNews): Promise<void> {
    const { DeviceLists, UserId } = this.#library;
    const users = (ids: readonly string[]) => ids.map((id) => new UserId(id));
    return this.#inTurn(async () => {
      await this.#machine.receiveSyncChanges(
        JSON.stringify(toDevice),
        new DeviceLists(users(changed), users(left)),
        new Map(Object.entries(counts)),
        fallbacks === null ? undefined : new Set(fallbacks),
      );
      await this.#sendWaiting();
    });
  }

  decrypt(event: unknown, roomId: string): Promise<Decrypted> {
    const { RoomId, DecryptionSettings, TrustRequirement, MegolmDecryptionError } = this.#library;
    return this.#inTurn(async () => {
      try {
        const settings = new DecryptionSettings(TrustRequirement.Untrusted);
        const text = JSON.stringify(event);
        const found = await this.#machine.decryptRoomEvent(text, new RoomId(roomId), settings);
        return { kind: 'decrypted', event: JSON.parse(found.event) } as const;
      } catch (error) {
        if (error instanceof MegolmDecryptionError) return { kind: 'no key' } as const;
        throw error;
      }
    });
  }

  encrypt(
    roomId: string,
    { type, content }: { readonly type: string; readonly content: object },
    members: readonly string[],
  ): Promise<unknown> {
    const { RoomId, UserId, EncryptionSettings, CollectStrategy } = this.#library;
    // The library takes each list away that it is given.
    const users = () => members.map((id) => new UserId(id));
    return this.#inTurn(async () => {
      await this.#machine.updateTrackedUsers(users());
      await this.#sendWaiting();
      const claim = await this.#machine.getMissingSessions(users());
      if (claim != null) await this.#carryOut(claim as OutgoingRequest);
      const settings = new EncryptionSettings();
      settings.sharingStrategy = CollectStrategy.allDevices();
      const shares = await this.#machine.shareRoomKey(new RoomId(roomId), users(), settings);
      for (const share of shares) await this.#carryOut(share);
      const text = JSON.stringify(content);
      const encrypted = await this.#machine.encryptRoomEvent(new RoomId(roomId), type, text);
      return JSON.parse(encrypted) as unknown;
    });
  }

  encryptFile(content: Uint8Array): { readonly content: Uint8Array; readonly keys: unknown } {
    const encrypted = this.#library.Attachment.encrypt(content);
    const keys: unknown = JSON.parse(encrypted.mediaEncryptionInfo ?? '{}');
    return { content: encrypted.encryptedData, keys };
  }

  decryptFile(content: Uint8Array, keys: string): Uint8Array {
    const { Attachment, EncryptedAttachment } = this.#library;
    return Attachment.decrypt(new EncryptedAttachment(content, keys));
  }

  async close(): Promise<void> {
    await this.#last;
    this.#machine.close();
    await this.#store.drop();
  }

  /** Runs one call of the library after the other; what it has changed is then on disk. */
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#last.then(async () => {
      if (this.#isBroken) throw new Error('Keys could not be written to the disk.');
      try {
        return await run();
      } finally {
        await this.#flush();
      }
    });
    this.#last = done.catch(() => {});
    return done;
  }

  async #flush(): Promise<void> {
    try {
      await this.#store.flush();
    } catch (error) {
      this.#isBroken = true;
      this.#onBroken();
      throw error;
    }
  }

  async #sendWaiting(): Promise<void> {
    for (const request of await this.#machine.outgoingRequests()) await this.#carryOut(request);
  }

  /** Sends a request of the library's, when the keys that it tells of are on disk. */
  async #carryOut(request: OutgoingRequest | ToDeviceRequest): Promise<void> {
    await this.#flush();
    const { RequestType } = this.#library;
    const { type, id = '' } = request;
    const answer = await this.#ask(request);
    await this.#machine.markRequestAsSent(id, type ?? RequestType.ToDevice, JSON.stringify(answer));
  }

  #ask(request: OutgoingRequest | ToDeviceRequest): Promise<unknown> {
    const { RequestType } = this.#library;
    const body: unknown = JSON.parse(request.body);
    switch (request.type) {
      case RequestType.KeysUpload:
        return this.#api.call('POST', '/keys/upload', { body });
      case RequestType.KeysQuery:
        return this.#queryKeys(body);
      case RequestType.KeysClaim:
        return this.#api.call('POST', '/keys/claim', { body });
      case RequestType.SignatureUpload:
        return this.#api.call('POST', '/keys/signatures/upload', { body });
      case RequestType.ToDevice: {
        const { event_type: event, txn_id: transaction } = request as ToDeviceRequest;
        return this.#api.call('PUT', pathOf`/sendToDevice/${event}/${transaction}`, { body });
      }
      default:
        throw new Error(`The library asks for something that is not known (${request.type}).`);
    }
  }

  /** For people whom an answer leaves out, the library waits five seconds at each message: they have no devices. */
  async #queryKeys(body: unknown): Promise<unknown> {
    const answer = KeyAnswer.parse(await this.#api.call('POST', '/keys/query', { body }));
    const devices = { ...answer.device_keys };
    for (const user of Object.keys(KeyAnswer.parse(body).device_keys)) {
      const server = user.slice(user.indexOf(':') + 1);
      if (answer.failures[server] === undefined) devices[user] ??= {};
    }
    return { ...answer, device_keys: devices };
  }

  /**
   * Makes the account's own signature, so that people's apps see that the device is the account's. Servers take it
   * without a password once, for an account that has none.
   */
  async #signItself(): Promise<void> {
    const requests = await this.#machine.bootstrapCrossSigning(false);
    await this.#flush();
    try {
      const body: unknown = JSON.parse(requests.uploadSigningKeysRequest.body);
      await this.#api.call('POST', '/keys/device_signing/upload', { body });
      await this.#carryOut(requests.uploadSignaturesRequest as OutgoingRequest);
    } catch (error) {
      // Then people see the device as not verified, and can verify it.
      const { status = null } = error as { status?: number | null };
      if (!isRefusal(error) && status !== 401) throw error;
    }
  }
}
