import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Internet } from './internet.ts';
import { PageRefused } from './page-address.ts';
import { isPublicAddress } from './public-address.ts';

const CONNECT_MS = 10_000;
const MOST_TRIED = 4;

type Connector = ReturnType<typeof buildConnector>;
type ConnectOptions = Parameters<Connector>[0];
type Callback = Parameters<Connector>[1];

/**
 * Creates an agent whose connections go to public addresses alone. A name is resolved once, every address that it
 * has is checked, and the connection goes to one of these: between check and connection nobody is asked again, so
 * a name server cannot answer differently (DNS rebinding).
 */
export function openPublicAgent(internet: Internet): Agent {
  const connect = buildConnector({ timeout: CONNECT_MS, maxCachedSessions: 0, allowH2: false });
  return new Agent({
    connect(options, callback) {
      checkedAddresses(options.hostname, internet).then(
        (addresses) => connectToOne(options, addresses, callback),
        (error: Error) => callback(error, null),
      );
    },
  });

  function connectToOne(
    options: ConnectOptions,
    [address, ...others]: readonly string[],
    callback: Callback,
  ): void {
    if (address === undefined) {
      callback(new PageRefused(`${options.hostname} has no address.`), null);
      return;
    }
    const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
    const end = internet.reach({ address, port });
    const target = { ...options, hostname: end.address, port: String(end.port) };
    // The certificate has to be that of the name, whatever the address.
    const servername = isIP(bare(options.hostname)) === 0 ? options.hostname : '';
    connect({ ...target, servername }, (...result) => {
      const [error] = result;
      if (error === null || others.length === 0) callback(...result);
      else connectToOne(options, others, callback);
    });
  }
}

async function checkedAddresses(hostname: string, internet: Internet): Promise<readonly string[]> {
  const host = bare(hostname);
  const addresses = isIP(host) === 0 ? await lookedUp(host, internet) : [host];
  const own = internet.ownNetworks();
  // One that is not public is enough: a name that leads outside and inside was made for that.
  if (!addresses.every((address) => isPublicAddress(address, own))) {
    throw new PageRefused(
      `${host} leads to an address that is not of the public internet, so it is not read.`,
    );
  }
  return addresses.slice(0, MOST_TRIED);
}

async function lookedUp(host: string, internet: Internet): Promise<readonly string[]> {
  const addresses = await internet.lookup(host).catch((cause: unknown) => {
    throw new PageRefused(`There is no site ${host}: its name has no address.`, { cause });
  });
  if (addresses.length > 0) return addresses;
  throw new PageRefused(`There is no site ${host}: its name has no address.`);
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
