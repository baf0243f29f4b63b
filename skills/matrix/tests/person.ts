import type { OlmMachine, OutgoingRequest } from '@matrix-org/matrix-sdk-crypto-wasm';
import type { FarEvent, Json, MatrixServer } from './matrix-server.ts';

/** A person with a device of their own, whose app encrypts: the same library, with keys in memory. */
export class Person {
  readonly user: string;
  readonly #token: string;
  readonly #server: MatrixServer;
  readonly #machine: OlmMachine;
  readonly #library: typeof import('@matrix-org/matrix-sdk-crypto-wasm');
  #since = 0;

  private constructor(
    server: MatrixServer,
    user: string,
    parts: { machine: OlmMachine; library: Person['library']; token: string },
  ) {
    this.#server = server;
    this.user = user;
    this.#token = parts.token;
    this.#machine = parts.machine;
    this.#library = parts.library;
  }

  get library(): typeof import('@matrix-org/matrix-sdk-crypto-wasm') {
    return this.#library;
  }

  static async open(server: MatrixServer, user: string): Promise<Person> {
    const library = await import('@matrix-org/matrix-sdk-crypto-wasm');
    await library.initAsync();
    const device = 'PHONE';
    const machine = await library.OlmMachine.initialize(
      new library.UserId(user),
      new library.DeviceId(device),
    );
    const token = `token-of-${user}`;
    server.sessions.set(token, { user, device });
    const person = new Person(server, user, { machine, library, token });
    await person.#sendWaiting();
    return person;
  }

  /** Says something in an encrypted room. Without `withKey` the room's key stays here until `shareKey`. */
  async say(
    room: string,
    content: Json,
    members: readonly string[],
    withKey = true,
  ): Promise<string> {
    await this.catchUp();
    const shares = await this.#share(room, members);
    if (withKey) for (const share of shares) await this.#carryOut(share);
    else this.#later.push(...shares);
    const { RoomId } = this.#library;
    const text = await this.#machine.encryptRoomEvent(
      new RoomId(room),
      'm.room.message',
      JSON.stringify(content),
    );
    return this.#server.push(room, this.user, 'm.room.encrypted', JSON.parse(text) as Json);
  }

  readonly #later: OutgoingRequest[] = [];

  /** Sends the keys that were held back. */
  async shareKey(): Promise<void> {
    for (const share of this.#later.splice(0)) await this.#carryOut(share);
  }

  /** Reads an encrypted event, as the person's app does. */
  async read({ type, ...event }: FarEvent, room: string): Promise<Json> {
    await this.catchUp();
    const { RoomId, DecryptionSettings, TrustRequirement } = this.#library;
    const found = await this.#machine.decryptRoomEvent(
      JSON.stringify({ type, ...event }),
      new RoomId(room),
      new DecryptionSettings(TrustRequirement.Untrusted),
    );
    return (JSON.parse(found.event) as { content: Json }).content;
  }

  encryptFile(content: Uint8Array): { readonly content: Uint8Array; readonly keys: Json } {
    const encrypted = this.#library.Attachment.encrypt(content);
    const keys = JSON.parse(encrypted.mediaEncryptionInfo ?? '{}') as Json;
    return { content: encrypted.encryptedData, keys };
  }

  decryptFile(content: Uint8Array, keys: unknown): Uint8Array {
    const { Attachment, EncryptedAttachment } = this.#library;
    return Attachment.decrypt(new EncryptedAttachment(content, JSON.stringify(keys)));
  }

  /** Takes in what came for the device. */
  async catchUp(): Promise<void> {
    const { DeviceLists, UserId } = this.#library;
    const news = (await this.#call('GET', `/sync?since=s${this.#since}&timeout=0`)) as {
      next_batch: string;
      to_device: { events: unknown[] };
      device_lists: { changed: string[] };
      device_one_time_keys_count: Record<string, number>;
    };
    this.#since = Number(news.next_batch.slice(1));
    await this.#machine.receiveSyncChanges(
      JSON.stringify(news.to_device.events),
      new DeviceLists(news.device_lists.changed.map((user) => new UserId(user))),
      new Map(Object.entries(news.device_one_time_keys_count)),
    );
    await this.#sendWaiting();
  }

  async #share(room: string, members: readonly string[]): Promise<OutgoingRequest[]> {
    const { RoomId, UserId, EncryptionSettings } = this.#library;
    const users = () => members.map((user) => new UserId(user));
    await this.#machine.updateTrackedUsers(users());
    await this.#sendWaiting();
    const claim = await this.#machine.getMissingSessions(users());
    if (claim != null) await this.#carryOut(claim as OutgoingRequest);
    const settings = new EncryptionSettings();
    const shares = await this.#machine.shareRoomKey(new RoomId(room), users(), settings);
    return shares as unknown as OutgoingRequest[];
  }

  async #sendWaiting(): Promise<void> {
    for (const request of await this.#machine.outgoingRequests()) await this.#carryOut(request);
  }

  async #carryOut(request: OutgoingRequest): Promise<void> {
    const { RequestType } = this.#library;
    const asked = request as OutgoingRequest & { event_type?: string; txn_id?: string };
    const paths: Readonly<Record<number, string>> = {
      [RequestType.KeysUpload]: '/keys/upload',
      [RequestType.KeysQuery]: '/keys/query',
      [RequestType.KeysClaim]: '/keys/claim',
      [RequestType.ToDevice]: `/sendToDevice/${asked.event_type}/${asked.txn_id}`,
    };
    const type = asked.type ?? RequestType.ToDevice;
    const method = type === RequestType.ToDevice ? 'PUT' : 'POST';
    const answer = await this.#call(method, paths[type] ?? '', asked.body);
    await this.#machine.markRequestAsSent(asked.id ?? '', type, JSON.stringify(answer));
  }

  async #call(method: string, path: string, body?: string): Promise<unknown> {
    const response = await fetch(`${this.#server.url}/_matrix/client/v3${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return await response.json();
  }
}
