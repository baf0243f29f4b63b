import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isInnerAddress } from '../../lib/inner-address.ts';

/** The network as servers are reached in it; a test has one of its own. */
export type Network = {
  /** Returns every IP address of a name. */
  lookup(name: string): Promise<readonly string[]>;
  isInner(address: string): boolean;
};

export const NETWORK: Network = {
  async lookup(name) {
    const found = await lookup(name, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  },
  isInner: isInnerAddress,
};

const CONNECT_MS = 10_000;
const MOST_TRIED = 4;

type Connector = ReturnType<typeof buildConnector>;
type Callback = Parameters<Connector>[1];

/**
 * Creates an agent for one server of the owner's list. A server that was inside when it was first reached may have
 * anything asked; one of the internet, nothing inside, itself included. A name is resolved once, its addresses
 * are checked, and the connection goes to one of these: its name server cannot answer differently in between, nor
 * later (DNS rebinding).
 */
export function openServerAgent(server: URL, network: Network): Agent {
  const connect = buildConnector({ timeout: CONNECT_MS, maxCachedSessions: 0, allowH2: false });
  let home: Promise<boolean> | null = null;
  /** Tells whether the server is inside. The next connection asks again for a name that has no address now. */
  const isHomeInside = (): Promise<boolean> => {
    home ??= addressesOf(server.hostname).then(
      (addresses) => addresses.some(network.isInner),
      (error: unknown) => {
        home = null;
        throw error;
      },
    );
    return home;
  };

  async function addressesOf(hostname: string): Promise<readonly string[]> {
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    return isIP(host) === 0 ? await network.lookup(host) : [host];
  }

  async function checked(hostname: string): Promise<readonly string[]> {
    const isFree = await isHomeInside();
    const addresses = await addressesOf(hostname);
    // One that is inside is enough: a name that leads outside and inside was made for that.
    if (isFree || !addresses.some(network.isInner)) return addresses.slice(0, MOST_TRIED);
    throw new Error(`the server names ${hostname}, which is not an address of the internet`);
  }

  return new Agent({
    connect(options, callback) {
      const tryOne = ([address, ...others]: readonly string[], end: Callback): void => {
        if (address === undefined) {
          end(new Error(`${options.hostname} has no address`), null);
          return;
        }
        // The certificate has to be that of the name, whatever the address.
        const servername =
          isIP(options.hostname.replace(/^\[|\]$/g, '')) === 0 ? options.hostname : '';
        connect({ ...options, hostname: address, servername }, (...result) => {
          if (result[0] === null || others.length === 0) end(...result);
          else tryOne(others, end);
        });
      };
      checked(options.hostname).then(
        (addresses) => tryOne(addresses, callback),
        (error: Error) => callback(error, null),
      );
    },
  });
}
