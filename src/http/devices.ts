import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type Device, type Invitation, SCOPES, type Scope } from './route.ts';

/** The browsers that were let in by a link, each with a credential of its own. */
export interface DeviceBook {
  /** Makes a code that lets one browser in, once, within a minute. */
  invite(scope: Scope): Invitation;
  /**
   * Takes a code for a credential.
   *
   * @param origin where the browser sees the page: its credential counts there alone
   * @returns null for a code that is wrong, late or was used
   */
  redeem(code: string, name: string, origin: string): { device: Device; credential: string } | null;
  /** Returns the device that a credential belongs to; null for every other text. */
  admit(credential: string, origin: string): Device | null;
  list(): readonly Device[];
  /** Takes the credential of a device away. False where there is none of this id. */
  revoke(id: string): boolean;
}

const CODE_MS = 60_000;
/** A browser that was not seen for so long has to be let in anew. */
const KEPT_MS = 90 * 86_400_000;
/** The time of the last visit is written so often. */
const SEEN_TO_MS = 3_600_000;
const MAX_DEVICES = 100;
const MAX_CODES = 20;

const Kept = z.array(
  z.object({
    id: z.string().max(40),
    name: z.string().max(200),
    scope: z.enum(SCOPES),
    origin: z.string().max(300),
    hash: z.string().max(80),
    madeAt: z.int(),
    seenAt: z.int(),
  }),
);
type KeptDevice = z.output<typeof Kept>[number];

/** Opens the book in the file `http/devices.json` of the data folder, which holds no credential, only their hashes. */
export function openDeviceBook(dataDir: string, now: () => number): DeviceBook {
  const path = join(dataDir, 'http', 'devices.json');
  const codes = new Map<string, { readonly scope: Scope; readonly until: number }>();
  let kept: readonly KeptDevice[] | null = null;

  function devices(): readonly KeptDevice[] {
    kept ??= read(path);
    return kept.filter(({ seenAt }) => now() - seenAt < KEPT_MS);
  }

  function keep(next: readonly KeptDevice[]): void {
    mkdirSync(join(dataDir, 'http'), { recursive: true, mode: 0o700 });
    const written = `${path}.new`;
    writeFileSync(written, `${JSON.stringify(next, null, 1)}\n`, { mode: 0o600 });
    renameSync(written, path);
    kept = next;
  }

  function seen(device: KeptDevice): void {
    if (now() - device.seenAt < SEEN_TO_MS) return;
    keep(devices().map((one) => (one.id === device.id ? { ...one, seenAt: now() } : one)));
  }

  return {
    invite(scope) {
      for (const [code, { until }] of codes) if (until <= now()) codes.delete(code);
      const [oldest] = codes.keys();
      if (codes.size >= MAX_CODES && oldest !== undefined) codes.delete(oldest);
      const code = randomBytes(32).toString('base64url');
      const until = now() + CODE_MS;
      codes.set(digest(code), { scope, until });
      return { code, until };
    },
    redeem(code, name, origin) {
      const invited = codes.get(digest(code));
      codes.delete(digest(code));
      if (invited === undefined || invited.until <= now()) return null;
      const secret = randomBytes(32).toString('base64url');
      const device = {
        id: randomBytes(9).toString('base64url'),
        name: name.slice(0, 200),
        scope: invited.scope,
        origin,
        hash: digest(secret),
        madeAt: now(),
        seenAt: now(),
      };
      const others = devices().toSorted((one, other) => other.seenAt - one.seenAt);
      keep([...others.slice(0, MAX_DEVICES - 1), device]);
      return { device: shown(device), credential: `${device.id}.${secret}` };
    },
    admit(credential, origin) {
      const [id = '', secret = ''] = credential.split('.', 2);
      const device = devices().find((one) => one.id === id);
      if (device === undefined || device.origin !== origin) return null;
      if (!timingSafeEqual(Buffer.from(digest(secret)), Buffer.from(device.hash))) return null;
      seen(device);
      return shown(device);
    },
    list: () => devices().map(shown),
    revoke(id) {
      const left = devices().filter((one) => one.id !== id);
      if (left.length === devices().length) return false;
      keep(left);
      return true;
    },
  };
}

/** A damaged file lets nobody in: every browser needs a new link. */
function read(path: string): readonly KeptDevice[] {
  try {
    const { data = [] } = Kept.safeParse(JSON.parse(readFileSync(path, 'utf8')));
    return data.filter(({ hash }) => hash.length === digest('').length);
  } catch {
    return []; // No browser was let in so far.
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function shown({ hash: _, ...device }: KeptDevice): Device {
  return device;
}
