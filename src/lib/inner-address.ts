import { BlockList, isIP } from 'node:net';

/** Networks of one machine, one house or one data centre, and ranges that lead nowhere. */
const INNER_V4 =
  `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12
  192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4`.split(/\s+/);
const INNER_V6 = ['2001::/23', '2002::/16'];
/** Everything else of IPv6 is special; the last two carry an IPv4 address in their last four bytes. */
const GLOBAL_V6 = ['2000::/3', '64:ff9b::/96', '::ffff:0:0/96'];

const inner = new BlockList();
for (const network of INNER_V4) {
  const [address = '', bits] = network.split('/');
  inner.addSubnet(address, Number(bits), 'ipv4');
  for (const carrier of ['64:ff9b::', '::ffff:']) {
    inner.addSubnet(`${carrier}${address}`, 96 + Number(bits), 'ipv6');
  }
}
const global = new BlockList();
for (const [list, networks] of [
  [inner, INNER_V6],
  [global, GLOBAL_V6],
] as const) {
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), 'ipv6');
  }
}

/**
 * Tells whether an IP address is of this machine, of its network, or of no network at all.
 *
 * @public skills ask it before they connect to an address that somebody else has named
 */
export function isInnerAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) !== 6) return inner.check(plain, 'ipv4');
  return !global.check(plain, 'ipv6') || inner.check(plain, 'ipv6');
}
