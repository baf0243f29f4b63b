import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { DeviceBook } from './devices.ts';
import { type Device, SCOPES, type Scope } from './route.ts';

/** The decision about a request, with the answer to one that is refused. */
export type Access =
  | { readonly kind: 'in'; readonly device: Device | null }
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 421; readonly reason: string };

/**
 * The key of one server: its token, the port that it listens on, and the addresses that the owner has allowed, such as
 * `https://nas.example.ts.net`, behind which a proxy hands requests over. What a proxy says of them
 * (`X-Forwarded-*`) is never read: anybody can say that.
 */
export type AccessLock = {
  readonly token: string;
  readonly port: number;
  readonly origins: readonly string[];
  readonly devices: Pick<DeviceBook, 'admit'>;
};

/**
 * Refuses requests that another page sends from a browser. Pages are told apart by host and port, but cookies are
 * not: a page of another server on this machine would send ours along.
 */
export function refuseForeign(headers: IncomingHttpHeaders, lock: AccessLock): Access {
  const { origin } = headers;
  if (origin !== undefined && !originsOf(lock).includes(origin)) {
    return { kind: 'refused', status: 403, reason: 'This was sent by another page.' };
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return { kind: 'refused', status: 403, reason: 'This was asked for by another page.' };
  }
  return { kind: 'in', device: null };
}

/**
 * Lets in a browser that another page has led here, with its whole window, as a login elsewhere does at its end. A
 * frame or a request of another page is refused as ever.
 */
export function admitLanding(headers: IncomingHttpHeaders, lock: AccessLock): Access {
  const { origin, 'sec-fetch-mode': mode, 'sec-fetch-dest': place } = headers;
  const isLed = origin === undefined && mode === 'navigate' && place === 'document';
  return isLed ? { kind: 'in', device: null } : refuseForeign(headers, lock);
}

/**
 * Lets in a request with the token, or from a browser that was let in by a link and may do as much as `scope`. A name that leads to this machine, but is not its own, is refused: the
 * page of an attacker may have one (DNS rebinding).
 */
export function admitOwner(
  headers: IncomingHttpHeaders,
  lock: AccessLock,
  scope: Scope = 'admin',
): Access {
  const here = originOf(headers, lock);
  if (here === null) {
    const own = originsOf(lock).map(hostOf).join(' and ');
    return { kind: 'refused', status: 421, reason: `This server is called ${own}.` };
  }
  const foreign = refuseForeign(headers, lock);
  if (foreign.kind === 'refused') return foreign;
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (bearer !== undefined && isEqual(bearer, lock.token)) return { kind: 'in', device: null };
  const cookies = (headers.cookie ?? '').split(/; */);
  // The token's cookie is for this machine alone.
  const isAtHome = !here.startsWith('https:');
  if (isAtHome && cookies.some((cookie) => isEqual(cookie, cookieOf(lock)))) {
    return { kind: 'in', device: null };
  }
  const name = `${deviceCookieName(here)}=`;
  for (const cookie of cookies.filter((one) => one.startsWith(name))) {
    const device = lock.devices.admit(cookie.slice(name.length), here);
    if (device === null) continue;
    if (SCOPES.indexOf(device.scope) >= SCOPES.indexOf(scope)) return { kind: 'in', device };
    return { kind: 'refused', status: 403, reason: `This browser may ${MAY[device.scope]}.` };
  }
  const reason = 'This needs the token in the file data/http/token of the assistant.';
  return { kind: 'refused', status: 401, reason };
}

/**
 * Returns the name and the value of the cookie. Browsers hand it to every server of this machine, so it is not
 * the token, and one that another server has seen is of no use under another port.
 */
export function cookieOf({ token, port }: AccessLock): string {
  const value = createHmac('sha256', token).update(`cookie ${port}`).digest('base64url');
  return `claw-${port}=${value}`;
}

/** Returns the header that leaves the credential of a device in its browser. */
export function deviceCookie(origin: string, credential: string): string {
  const secure = origin.startsWith('https:') ? ' Secure;' : '';
  return `${deviceCookieName(origin)}=${credential}; Path=/; HttpOnly;${secure} SameSite=Strict; Max-Age=7776000`;
}

/** Browsers hand a cookie to all ports of a host: of several assistants each has a name of its own. */
function deviceCookieName(origin: string): string {
  const { protocol, port } = new URL(origin);
  return protocol === 'https:' ? '__Host-claw-device' : `claw-device-${port}`;
}

/** Returns the address under which a request has come in; null for a name that is not this server's. */
export function originOf({ host }: IncomingHttpHeaders, lock: AccessLock): string | null {
  return originsOf(lock).find((origin) => hostOf(origin) === host) ?? null;
}

/** Returns the addresses of the server: those that the owner has allowed, and its own. */
export function originsOf({ port, origins }: AccessLock): readonly string[] {
  return [...origins, `http://127.0.0.1:${port}`, `http://localhost:${port}`];
}

function hostOf(origin: string): string {
  return new URL(origin).host;
}

const MAY: Readonly<Record<Scope, string>> = {
  read: 'look, and nothing else',
  talk: 'look and speak in chats, and nothing else',
  admin: 'do all that you may',
};

/** Compares in a time that says nothing about how much of a guess is right. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
