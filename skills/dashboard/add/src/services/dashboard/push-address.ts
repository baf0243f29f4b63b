import { type LookupAddress, lookup } from 'node:dns';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isInnerAddress } from '../../lib/inner-address.ts';

/** Tells whether notifications may go inside the owner's own network. */
export type MayReachInside = { readonly isInsideAllowed: boolean };

/** An address that was refused, as a sentence for the person at the page. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** A browser names the address, so without this check it could have the assistant send to whatever listens inside. */
function refuse(host: string, { isInsideAllowed }: MayReachInside, addresses: readonly string[]) {
  const inner = isInsideAllowed ? undefined : addresses.find(isInnerAddress);
  if (inner === undefined) return;
  throw new AddressRefused(
    `The push service ${host} leads to ${inner}, which is inside your network. If it is your own, set DASHBOARD_PUSH_INSIDE=yes in .env and say /restart.`,
  );
}

/**
 * Refuses an address of a push service that leads inside. A name without an address now is tried again at each notification.
 *
 * @throws AddressRefused
 */
export async function checkPushAddress(endpoint: string, may: MayReachInside): Promise<void> {
  const { host, name } = hostOf(endpoint);
  const { promise, resolve } = Promise.withResolvers<readonly LookupAddress[]>();
  if (isIP(name) === 0) lookup(name, { all: true }, (error, found) => resolve(error ? [] : found));
  else resolve([{ address: name, family: isIP(name) }]);
  const addresses = await promise;
  refuse(
    host,
    may,
    addresses.map(({ address }) => address),
  );
}

/**
 * Posts to a push service, follows no redirect, and returns the status. The connection goes to an address that was checked:
 * nobody is asked again in between (DNS rebinding).
 *
 * @throws AddressRefused for one that leads inside; the error of the connection
 */
export async function postToPushService(
  endpoint: string,
  {
    headers,
    body,
    signal,
    ...may
  }: MayReachInside & {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
    readonly signal: AbortSignal;
  },
): Promise<number> {
  const { host, name } = hostOf(endpoint);
  // A connection to an address asks no name server.
  if (isIP(name) !== 0) refuse(host, may, [name]);
  const checked: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      try {
        refuse(
          host,
          may,
          found.map(({ address }) => address),
        );
        const [first] = found;
        // Node asks for all of them where it takes the first that answers.
        if (options.all === true || first === undefined) callback(null, found);
        else callback(null, first.address, first.family);
      } catch (refused) {
        callback(refused as Error, []);
      }
    });
  };
  const begin = endpoint.startsWith('https:') ? requestTls : requestPlain;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = begin(endpoint, {
    method: 'POST',
    headers: { ...headers, 'content-length': String(body.length) },
    agent: false,
    lookup: checked,
    signal,
  });
  sent.on('error', reject).on('response', (response) => {
    resolve(response.statusCode ?? 0);
    response.destroy();
  });
  sent.end(body);
  return await promise;
}

function hostOf(endpoint: string) {
  const { host, hostname } = new URL(endpoint);
  return { host, name: hostname.replace(/^\[(.*)\]$/, '$1') };
}
