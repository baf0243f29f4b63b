import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  sign,
} from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { checkPushAddress, type MayReachInside, postToPushService } from './push-address.ts';

// Web Push: encrypted for one browser (RFC 8291), and signed by keys of this installation (RFC 8292).

/** Where a browser is reached, as its own push service has told it. */
export const Subscription = z.object({
  endpoint: z.url({ protocol: /^https?$/ }).max(2_000),
  p256dh: z.string().regex(/^[\w-]{87}$/),
  auth: z.string().regex(/^[\w-]{22}$/),
});
export type Subscription = z.output<typeof Subscription>;

const Kept = z.object({
  /** A key of the curve P-256, as a JSON Web Key. */
  key: z.object({ kty: z.string(), crv: z.string(), x: z.string(), y: z.string(), d: z.string() }),
  subscriptions: z.array(Subscription.extend({ device: z.string(), contact: z.string() })).max(100),
});
type Kept = z.output<typeof Kept>;

/** The browsers that want to be told. */
export type Push = ReturnType<typeof openPush>;

/** What a browser shows: the place is the address of the page behind its `#`. */
export type Notice = { readonly title: string; readonly body: string; readonly place: string };

const JWT_SECONDS = 12 * 3_600;
/** So long a push service keeps what a phone that is off has not got. */
const KEPT_SECONDS = 86_400;
const SEND_MS = 20_000;

/** The keys and the browsers that want to be told, in a file that only its owner can read. */
export function openPush(folder: string, may: MayReachInside) {
  const path = join(folder, 'push.json');

  function read(): Kept {
    try {
      return Kept.parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch {
      // Nobody has asked so far. Of a damaged file nothing is of use: browsers subscribe anew.
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const made = { key: privateKey.export({ format: 'jwk' }), subscriptions: [] };
      return keep(Kept.parse(made));
    }
  }

  function keep(next: Kept): Kept {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, JSON.stringify(next), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return next;
  }

  function without(isMeant: (one: Kept['subscriptions'][number]) => boolean): void {
    const { key, subscriptions } = read();
    keep({ key, subscriptions: subscriptions.filter((one) => !isMeant(one)) });
  }

  return {
    /** The key that browsers subscribe with. */
    publicKey: () => publicKeyOf(read().key).toString('base64url'),
    isOn: (device: string) => read().subscriptions.some((one) => one.device === device),
    /**
     * @param contact an address of whoever sends, which push services may ask for
     * @throws AddressRefused where the push service is inside the owner's network
     */
    async switchOn(device: string, subscription: Subscription, contact: string): Promise<void> {
      await checkPushAddress(subscription.endpoint, may);
      without((one) => one.device === device);
      const { key, subscriptions } = read();
      keep({
        key,
        subscriptions: [...subscriptions.slice(-99), { ...subscription, device, contact }],
      });
    },
    switchOff: (device: string) => without((one) => one.device === device),
    /** Sends to the browsers of these devices. A subscription that is over is dropped; other failures are returned. */
    async send(
      notice: Notice,
      devices: readonly string[],
      now: number,
    ): Promise<readonly string[]> {
      const { key, subscriptions } = read();
      const wanted = subscriptions.filter(({ device }) => devices.includes(device));
      const failures = await Promise.all(
        wanted.map(async (one) => {
          try {
            const status = await postToPushService(one.endpoint, {
              ...may,
              signal: AbortSignal.timeout(SEND_MS),
              headers: {
                ttl: String(KEPT_SECONDS),
                urgency: 'high',
                'content-type': 'application/octet-stream',
                'content-encoding': 'aes128gcm',
                authorization: vapid(key, one, now),
              },
              body: encrypted(Buffer.from(JSON.stringify(notice)), one),
            });
            const isOver = status === 404 || status === 410;
            if (isOver) without(({ endpoint }) => endpoint === one.endpoint);
            return isOver || status < 300 ? null : `${new URL(one.endpoint).host} said ${status}`;
          } catch (error) {
            return `${new URL(one.endpoint).host}: ${error instanceof Error ? error.message : error}`;
          }
        }),
      );
      return failures.filter((failure) => failure !== null);
    },
  };
}

/** Encrypts for one browser, by RFC 8291. The key pair and the salt are new each time, but in tests. */
export function encrypted(
  text: Buffer,
  { p256dh, auth }: Pick<Subscription, 'p256dh' | 'auth'>,
  {
    privateKey,
    salt = randomBytes(16),
  }: { readonly privateKey?: Buffer; readonly salt?: Buffer } = {},
): Buffer {
  const ecdh = createECDH('prime256v1');
  if (privateKey === undefined) ecdh.generateKeys();
  else ecdh.setPrivateKey(privateKey);
  const theirs = Buffer.from(p256dh, 'base64url');
  const ours = ecdh.getPublicKey();
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, ours]);
  const secret = derived(ecdh.computeSecret(theirs), Buffer.from(auth, 'base64url'), info, 32);
  const key = derived(secret, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
  const nonce = derived(secret, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
  const cipher = createCipheriv('aes-128-gcm', key, nonce);
  // One record, the last.
  const sealed = [cipher.update(text), cipher.update(Buffer.from([2])), cipher.final()];
  const head = Buffer.from([0, 0, 16, 0, ours.length]);
  return Buffer.concat([salt, head, ours, ...sealed, cipher.getAuthTag()]);
}

function derived(secret: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, length));
}

/** Tells the push service who sends, by RFC 8292. */
function vapid(
  key: Kept['key'],
  { endpoint, contact }: Kept['subscriptions'][number],
  now: number,
): string {
  const claims = {
    aud: new URL(endpoint).origin,
    exp: Math.floor(now / 1000) + JWT_SECONDS,
    sub: contact,
  };
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ typ: 'JWT', alg: 'ES256' })}.${part(claims)}`;
  const privateKey = createPrivateKey({ key, format: 'jwk' });
  const signature = sign('sha256', Buffer.from(signed), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  const token = `${signed}.${signature.toString('base64url')}`;
  return `vapid t=${token}, k=${publicKeyOf(key).toString('base64url')}`;
}

function publicKeyOf({ x, y }: Kept['key']): Buffer {
  return Buffer.concat([
    Buffer.from([4]),
    Buffer.from(x, 'base64url'),
    Buffer.from(y, 'base64url'),
  ]);
}
