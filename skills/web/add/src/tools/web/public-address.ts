import ipaddr from 'ipaddr.js';

/** Address ranges, such as those of this machine's own networks: `192.168.1.7/24`. */
export type Networks = readonly string[];

/** Ranges inside the global ones that lead elsewhere, or nowhere. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '2620:4f:8000::/48'];
const SPECIAL_V4 = ['192.0.0.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'];
const SPECIAL_V4_MORE = ['192.175.48.0/24', '198.18.0.0/15', '168.63.129.16/32'];

/** Addresses with an IPv4 address in their last four bytes, which is where the packets go. */
const CARRIES_V4 = ['::ffff:0:0/96', '64:ff9b::/96'];

/**
 * Tells whether an IP address belongs to the public internet, as far as a page may be fetched there. Private,
 * loopback, link-local, shared, documentation, multicast and reserved ranges do not, nor does this machine's
 * own network, which may have public addresses. Anything that is not a plain address is not public.
 *
 * Source: IANA's registries of special-purpose addresses, for IPv4 and IPv6
 */
export function isPublicAddress(text: string, own: Networks = []): boolean {
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return false;
  // A zone such as %eth0 is for link-local addresses alone.
  if (text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (isIn(address, own)) return false;
  if (address instanceof ipaddr.IPv4) {
    return address.range() === 'unicast' && !isIn(address, [...SPECIAL_V4, ...SPECIAL_V4_MORE]);
  }
  if (isIn(address, CARRIES_V4)) return isPublicAddress(lastFourBytes(address), own);
  return isIn(address, ['2000::/3']) && !isIn(address, SPECIAL_V6) && !isTunnelled(address);
}

function isIn(address: ipaddr.IPv4 | ipaddr.IPv6, networks: Networks): boolean {
  return networks.some((network) => {
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === address.kind() && address.match(base as never, bits);
  });
}

/** ISATAP: a router of a site takes the last four bytes as an address of that site. */
function isTunnelled({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && ((parts[4] ?? 0) & ~0x0200) === 0;
}

function lastFourBytes(address: ipaddr.IPv6): string {
  return address.toByteArray().slice(-4).join('.');
}
