import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { Networks } from './public-address.ts';

/** One end of a connection: an IP address, never a name. */
export type Endpoint = { readonly address: string; readonly port: number };

/** The net as pages are fetched from it. A test puts a net of its own here; no setting can. */
export type Internet = {
  /** Returns every IP address of a name. */
  lookup(name: string): Promise<readonly string[]>;
  /** Returns where a connection to a checked end is made: to that end. */
  reach(end: Endpoint): Endpoint;
  /** Returns the networks that this machine is part of. */
  ownNetworks(): Networks;
};

/** The net itself. */
export const INTERNET: Internet = {
  async lookup(name) {
    const found = await lookup(name, { all: true, order: 'ipv4first' });
    return found.map(({ address }) => address);
  },
  reach: (end) => end,
  ownNetworks: () =>
    Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.flatMap(({ cidr }) => (cidr === null ? [] : [cidr])),
    ),
};
