import { dataAt, isPlainMap } from '../canonical-value.ts';

/** A stretch of host ports that a service takes; `address` is null for all addresses. */
export type HostPorts = {
  readonly address: string | null;
  readonly first: number;
  readonly last: number;
  readonly protocol: string;
};

const EVERYWHERE = ['0.0.0.0', '::', '0:0:0:0:0:0:0:0', '*', ''];

/** Returns the host ports that a service of a compose file takes. Ports that Docker picks itself are none. */
export function hostPortsOf(service: unknown): readonly HostPorts[] {
  const ports = isMap(service) ? service['ports'] : null;
  if (!Array.isArray(ports)) return [];
  return ports.flatMap((port: unknown) => {
    if (typeof port === 'string') return shortForm(port);
    return isMap(port) ? longForm(port) : [];
  });
}

/** Tells whether two services cannot both have their ports. One address of this machine leaves the others. */
export function collide(one: HostPorts, other: HostPorts): boolean {
  const isApart = one.last < other.first || other.last < one.first;
  if (isApart || one.protocol !== other.protocol) return false;
  return one.address === null || other.address === null || one.address === other.address;
}

export function showPorts({ first, last, protocol }: HostPorts): string {
  return `${first === last ? first : `${first}-${last}`}/${protocol}`;
}

function shortForm(written: string): readonly HostPorts[] {
  const text = withDefaults(written);
  const match = /^(?:(\[[^\]]*\]|[^:[\]]*):)?([\d-]+):[\d-]+(?:\/(\w+))?$/.exec(text.trim());
  if (match === null) return [];
  const [, address = '', published = '', protocol = 'tcp'] = match;
  return portsOf(address.replace(/[[\]]/g, ''), published, protocol);
}

function longForm(port: Readonly<Record<string, unknown>>): readonly HostPorts[] {
  const { published, host_ip: address, protocol } = port;
  if (typeof published !== 'string' && typeof published !== 'number') return [];
  return portsOf(
    typeof address === 'string' ? address : '',
    withDefaults(String(published)),
    typeof protocol === 'string' ? protocol : 'tcp',
  );
}

function portsOf(address: string, published: string, protocol: string): readonly HostPorts[] {
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(published) ?? [];
  if (first === undefined) return [];
  return [
    {
      address: EVERYWHERE.includes(address) ? null : canonicalAddress(address),
      first: Number(first),
      last: Number(last),
      protocol: protocol.toLowerCase(),
    },
  ];
}

// A port from a setting is the one that the file names for when it is not set: `${PORT:-8080}:80`.
function withDefaults(text: string): string {
  return text.replace(/\$\{\w+:?-([^}]*)\}/g, '$1');
}

// `::1` has many spellings.
function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address;
  return URL.canParse(`http://[${address}]`) ? new URL(`http://[${address}]`).hostname : address;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the named volumes that services mount, sorted. */
export function namedVolumes(services: Readonly<Record<string, unknown>>): readonly string[] {
  const sources = Object.values(services).flatMap((service) => {
    const volumes = dataAt(service, ['volumes']);
    return Array.isArray(volumes) ? volumes.map(volumeSource) : [];
  });
  const isName = (source: unknown) => typeof source === 'string' && /^[A-Za-z0-9]/.test(source);
  return [...new Set(sources.filter((source) => isName(source)).map(String))].sort();
}

function volumeSource(volume: unknown): unknown {
  if (typeof volume === 'string') return volume.includes(':') ? volume.split(':')[0] : null;
  return isPlainMap(volume) && volume['type'] === 'volume' ? volume['source'] : null;
}
