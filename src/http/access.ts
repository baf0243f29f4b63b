import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The decision about a request, with the answer to one that is refused. */
export type Access =
  | { readonly kind: 'in' }
  | { readonly kind: 'refused'; readonly status: 401 | 403 | 421; readonly reason: string };

/** The key of one server: its token, and the port that it listens on. */
export type AccessLock = { readonly token: string; readonly port: number };

/**
 * Refuses what another page sends from a browser. A page is told from another by host and port, and
 * cookies are not: one of another server on this machine would bring ours along.
 */
export function refuseForeign(headers: IncomingHttpHeaders, { port }: AccessLock): Access {
  const { origin } = headers;
  if (origin !== undefined && !hostsOf(port).some((host) => origin === `http://${host}`)) {
    return { kind: 'refused', status: 403, reason: 'This was sent by another page.' };
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return { kind: 'refused', status: 403, reason: 'This was asked for by another page.' };
  }
  return { kind: 'in' };
}

/**
 * Lets in a browser that another page has led here, with its whole window, as a login elsewhere does at its end. A
 * frame or a request of another page is refused as ever.
 */
export function admitLanding(headers: IncomingHttpHeaders, lock: AccessLock): Access {
  const { origin, 'sec-fetch-mode': mode, 'sec-fetch-dest': place } = headers;
  const isLed = origin === undefined && mode === 'navigate' && place === 'document';
  return isLed ? { kind: 'in' } : refuseForeign(headers, lock);
}

/**
 * Lets in a request with the token. A name that leads to this machine, but is not its own, is refused: the
 * page of an attacker may have one (DNS rebinding).
 */
export function admitOwner(headers: IncomingHttpHeaders, lock: AccessLock): Access {
  if (!hostsOf(lock.port).includes(headers.host ?? '')) {
    const own = hostsOf(lock.port).join(' and ');
    return { kind: 'refused', status: 421, reason: `This server is called ${own}.` };
  }
  const foreign = refuseForeign(headers, lock);
  if (foreign.kind === 'refused') return foreign;
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (bearer !== undefined && isEqual(bearer, lock.token)) return { kind: 'in' };
  const cookies = (headers.cookie ?? '').split(/; */);
  if (cookies.some((cookie) => isEqual(cookie, cookieOf(lock)))) return { kind: 'in' };
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

function hostsOf(port: number): readonly string[] {
  return [`127.0.0.1:${port}`, `localhost:${port}`];
}

/** Compares in a time that says nothing about how much of a guess is right. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
