import type { Json, Session } from './matrix-server.ts';

type Message = { readonly pos: number; readonly event: Json };
type PerUser<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/** The part of a homeserver that keeps devices' keys and brings messages to devices. */
export class DeviceKeys {
  readonly devices = new Map<string, Json>();
  readonly masters = new Map<string, Json>();
  /** Whether the first signature of an account is taken without its password. */
  takesSignatures = true;
  readonly #oneTime = new Map<string, [string, unknown][]>();
  readonly #inbox = new Map<string, Message[]>();
  readonly #touched: { readonly pos: number; readonly user: string }[] = [];

  /** Notes that an account's devices, or those who see them, have changed. */
  touch(user: string, pos: number): void {
    this.#touched.push({ pos, user });
  }

  deliver(sender: string, type: string, body: Json, pos: number): void {
    for (const [user, devices] of Object.entries((body['messages'] ?? {}) as PerUser<Json>)) {
      for (const [device, content] of Object.entries(devices)) {
        const all = this.#inbox.get(`${user} ${device}`) ?? [];
        all.push({ pos, event: { type, sender, content } });
        this.#inbox.set(`${user} ${device}`, all);
      }
    }
  }

  /** The part of an answer to a sync that is about encryption. */
  newsFor({ user, device }: Session, since: number): Json {
    const key = `${user} ${device}`;
    const fresh = (this.#inbox.get(key) ?? []).filter(({ pos }) => pos > since);
    this.#inbox.set(key, fresh);
    const count = this.#oneTime.get(key)?.length ?? 0;
    const changed = this.#touched.filter(({ pos }) => pos > since).map((each) => each.user);
    return {
      to_device: { events: fresh.map(({ event }) => event) },
      device_lists: { changed: since === 0 ? [] : [...new Set(changed)], left: [] },
      device_one_time_keys_count: { signed_curve25519: count },
      device_unused_fallback_key_types: ['signed_curve25519'],
    };
  }

  answer(path: string, { user, device }: Session, body: Json, pos: number): Json {
    const key = `${user} ${device}`;
    switch (path) {
      case '/keys/upload': {
        const { device_keys: keys, one_time_keys: oneTime = {} } = body;
        if (keys != null) this.devices.set(key, keys as Json);
        if (keys != null) this.touch(user, pos);
        const all = [...(this.#oneTime.get(key) ?? []), ...Object.entries(oneTime as Json)];
        this.#oneTime.set(key, all);
        return { one_time_key_counts: { signed_curve25519: all.length } };
      }
      case '/keys/query':
        return this.#query(Object.keys(body['device_keys'] as Json));
      case '/keys/claim':
        return this.#claim(body['one_time_keys'] as PerUser<string>);
      case '/keys/device_signing/upload':
        if (!this.takesSignatures) return { status: 401, errcode: '', more: { flows: [] } };
        this.masters.set(user, body['master_key'] as Json);
        return {};
      default:
        return { failures: {} };
    }
  }

  #query(users: readonly string[]): Json {
    const found: Record<string, Record<string, Json>> = {};
    for (const [key, keys] of this.devices) {
      const [user = '', device = ''] = key.split(' ');
      if (users.includes(user)) found[user] = { ...found[user], [device]: keys };
    }
    const masters = [...this.masters].filter(([user]) => users.includes(user));
    return { device_keys: found, master_keys: Object.fromEntries(masters), failures: {} };
  }

  #claim(wanted: PerUser<string>): Json {
    const found: Record<string, Record<string, Json>> = {};
    for (const [user, devices] of Object.entries(wanted)) {
      for (const device of Object.keys(devices)) {
        const [id, key] = this.#oneTime.get(`${user} ${device}`)?.shift() ?? [];
        if (id !== undefined) found[user] = { ...found[user], [device]: { [id]: key } };
      }
    }
    return { one_time_keys: found, failures: {} };
  }
}
