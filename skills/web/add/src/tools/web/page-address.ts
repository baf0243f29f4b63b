import { isIP } from 'node:net';
import { isPublicAddress, type Networks } from './public-address.ts';

/** Refusal of an address or a page, in words for the agent. */
export class PageRefused extends Error {
  override readonly name = 'PageRefused';
}

const PORTS = ['', '80', '443', '8080', '8443'];

/** Names that lead into the machine or its network, whatever a name server says of them. */
const INNER_NAMES =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa|onion|test|invalid|alt)$/;

const DOTTED_NAME = /^[^.]+(?:\.[^.]+)+$/;

const LONGEST = 4_096;

/**
 * Parses the address of a page, and refuses everything but a plain public one. Numbers in odd spellings, such as
 * `0x7f.1`, are what browsers take them for. Where a name leads is checked again when it is connected to.
 *
 * @throws PageRefused
 */
export function pageAddress(text: string, own: Networks, base?: URL): URL {
  const url = parsed(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const scheme = url.protocol.replace(/:$/, '');
    throw new PageRefused(`Only http and https addresses can be read, not ${scheme}.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new PageRefused('An address with a name or password in it is not read.');
  }
  if (!PORTS.includes(url.port)) {
    throw new PageRefused(`Pages are read on the ports 80, 443, 8080 and 8443, not ${url.port}.`);
  }
  url.hash = '';
  url.hostname = url.hostname.replace(/\.$/, '');
  checkHost(hostOf(url), own);
  return url;
}

/** Returns the host of an address, an IPv6 one without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

function parsed(text: string, base: URL | undefined): URL {
  // Line breaks, tabs and backslashes are read differently by different programs, and by people.
  if (text.length > LONGEST || /[\\\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) {
    throw new PageRefused('This is not the address of a page.');
  }
  const url = URL.parse(text, base?.href);
  if (url === null)
    throw new PageRefused('This is not the address of a page. It begins with https://');
  return url;
}

function checkHost(host: string, own: Networks): void {
  if (isIP(host) !== 0) {
    if (isPublicAddress(host, own)) return;
    throw new PageRefused(`${host} is not an address of the public internet, so it is not read.`);
  }
  if (!DOTTED_NAME.test(host) || INNER_NAMES.test(host)) {
    throw new PageRefused(
      `${host || 'An empty name'} is not a name of the public internet, so it is not read.`,
    );
  }
}
