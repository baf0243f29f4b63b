import type { Account } from '../people/account.ts';
import type { ClientHello } from './noise.ts';

/** The server's decision about a client after the handshake. */
export type Admission =
  | { readonly kind: 'pair' }
  | { readonly kind: 'log in' }
  | { readonly kind: 'refuse'; readonly reason: '401' | '405' };

/** Returns the web version that a client presents. */
export function versionOf({ payload }: ClientHello): string {
  const { primary, secondary, tertiary } = payload.userAgent?.appVersion ?? {};
  return [primary, secondary, tertiary].join('.');
}

/**
 * Decides about a client: one that names no account wants to be paired; one that does must be the device
 * that was.
 */
export function admit(
  hello: ClientHello,
  account: Account,
  requiredVersion: string | null,
): Admission {
  const isStale = requiredVersion !== null && versionOf(hello) !== requiredVersion;
  if (isStale) return { kind: 'refuse', reason: '405' };
  if (!hello.payload.username) return { kind: 'pair' };
  const isPaired = account.paired?.staticKey.equals(hello.staticKey) === true;
  return isPaired ? { kind: 'log in' } : { kind: 'refuse', reason: '401' };
}
