import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Hook } from './hook.ts';

/** A clock may be wrong by this much, as Standard Webhooks proposes. */
export const TOLERANCE_MS = 5 * 60_000;

/** Whether a request is the sender's. `keys` name the delivery: a request with one of them that is known is a repeat. */
export type Proof =
  | { readonly kind: 'proven'; readonly keys: readonly string[] }
  | { readonly kind: 'refused'; readonly status: 400 | 401; readonly reason: string };

export type Proven = {
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly body: Buffer;
  readonly now: number;
};

/** Checks that a request comes from who knows the secret of the hook, and was made for this body. */
export function prove(hook: Pick<Hook, 'from' | 'secret'>, request: Proven): Proof {
  switch (hook.from) {
    case 'github':
      return proveGitHub(hook.secret, request);
    case 'signed':
      return proveSigned(hook.secret, request);
    case 'token':
      return proveToken(hook.secret, request);
  }
}

/**
 * GitHub signs the body and nothing else: who has seen a delivery could send it again under another id, so the body
 * itself names it as well.
 *
 * Source: docs.github.com, Validating webhook deliveries
 */
function proveGitHub(secret: string, { headers, body }: Proven): Proof {
  const signature = one(headers, 'x-hub-signature-256');
  if (signature === null) return refused(401, 'The header X-Hub-Signature-256 is missing.');
  const mine = createHmac('sha256', secret).update(body).digest('hex');
  if (!isEqual(signature, `sha256=${mine}`)) return refused(401, 'The signature is wrong.');
  const id = one(headers, 'x-github-delivery');
  return { kind: 'proven', keys: [`body ${mine}`, ...(id === null ? [] : [`id ${id}`])] };
}

/** Source: standardwebhooks.com, specification 1.0 */
function proveSigned(secret: string, { headers, body, now }: Proven): Proof {
  const id = one(headers, 'webhook-id');
  const sentAt = one(headers, 'webhook-timestamp');
  const signatures = one(headers, 'webhook-signature');
  if (id === null || sentAt === null || signatures === null) {
    return refused(
      401,
      'Needed are the headers webhook-id, webhook-timestamp and webhook-signature.',
    );
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const mine = createHmac('sha256', key).update(`${id}.${sentAt}.`).update(body).digest('base64');
  const theirs = signatures.split(' ').slice(0, 16);
  // All of them are compared: how long it takes says nothing about which was right.
  const right = theirs.filter((signature) => isEqual(signature, `v1,${mine}`));
  if (right.length === 0) return refused(401, 'The signature is wrong.');
  const offMs = Math.abs(now - Number(sentAt) * 1_000);
  if (!/^\d{1,12}$/.test(sentAt) || offMs > TOLERANCE_MS) {
    return refused(
      400,
      'The timestamp is more than 5 minutes off: one of the two clocks is wrong.',
    );
  }
  return { kind: 'proven', keys: [`id ${id}`] };
}

/** Headers in which senders put a token, and those in which they name a delivery. */
const TOKENS = ['x-hook-token', 'x-gitlab-token'];
const IDS = ['webhook-id', 'idempotency-key', 'x-gitlab-event-uuid', 'x-request-id'];

/** A token proves who sends and nothing about what: the connection has to be trusted. */
function proveToken(secret: string, { headers }: Proven): Proof {
  const [, bearer = null] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const given = [bearer, ...TOKENS.map((name) => one(headers, name))].filter((it) => it !== null);
  if (given.length === 0) return refused(401, 'The header Authorization: Bearer is missing.');
  if (!given.some((token) => isEqual(token, secret))) return refused(401, 'The token is wrong.');
  const id = IDS.map((name) => one(headers, name)).find((value) => value !== null);
  return { kind: 'proven', keys: id === undefined ? [] : [`id ${id}`] };
}

/** Returns a header that came once and is of a sane length; null for none. */
function one(headers: Readonly<IncomingHttpHeaders>, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value !== '' && value.length <= 4_096 ? value : null;
}

/** Compares in a time that says nothing about how much of a guess is right. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}

function refused(status: 400 | 401, reason: string): Proof {
  return { kind: 'refused', status, reason };
}
