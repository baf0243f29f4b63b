const VOLUME_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;
const DATA_FOLDER = /^\.\/data(\/[^/:]+)*\/?$/;
const PORTS = /^(\d{1,5})(?:-(\d{1,5}))?$/;
const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|0:0:0:0:0:0:0:1)$/;

const PORT_KEYS = ['target', 'published', 'host_ip', 'protocol'];
const VOLUME_KEYS = ['type', 'source', 'target', 'read_only'];

/**
 * Returns the reason that a service's port is reachable from beyond this machine, or is no port; null if it
 * is fine.
 */
export function portFault(port: unknown): string | null {
  const advice = 'publish it on loopback, as in "127.0.0.1:8080:80"';
  if (typeof port === 'string') return shortPortFault(port) ? `"${port}": ${advice}` : null;
  if (!isMap(port)) return `${JSON.stringify(port)}: ${advice}`;
  const extra = Object.keys(port).find((key) => !PORT_KEYS.includes(key));
  if (extra !== undefined) return `a port may not say ${extra}`;
  const isFine =
    typeof port['host_ip'] === 'string' &&
    LOOPBACK.test(port['host_ip']) &&
    arePorts(String(port['target'])) &&
    (port['published'] === undefined || arePorts(String(port['published']))) &&
    ['tcp', 'udp', undefined].some((protocol) => protocol === port['protocol']);
  return isFine ? null : `a published port needs target, published and host_ip: ${advice}`;
}

/**
 * Returns the reason that a volume reaches beyond a named one or the folder `./data`; null if it does not.
 */
export function volumeFault(volume: unknown): string | null {
  const advice = 'mount a named volume or a folder under ./data';
  if (typeof volume === 'string') {
    const [source = '', target = '', mode = 'rw', ...rest] = volume.split(':');
    const isFine =
      rest.length === 0 && ['rw', 'ro'].includes(mode) && isSource(source) && isTarget(target);
    return isFine ? null : `"${volume}": ${advice}`;
  }
  if (!isMap(volume)) return `${JSON.stringify(volume)}: ${advice}`;
  const extra = Object.keys(volume).find((key) => !VOLUME_KEYS.includes(key));
  if (extra !== undefined) return `a volume may not say ${extra}`;
  const { type, source, target } = volume;
  const isNamed = type === 'volume' && typeof source === 'string' && VOLUME_NAME.test(source);
  const isBound = type === 'bind' && typeof source === 'string' && isDataFolder(source);
  return (isNamed || isBound) && typeof target === 'string' && isTarget(target) ? null : advice;
}

function shortPortFault(text: string): boolean {
  const match =
    /^(?:(127(?:\.\d{1,3}){3})|\[([0-9a-f:]+)\]):([\d-]*):([\d-]+)(?:\/(tcp|udp))?$/.exec(text);
  if (match === null) return true;
  const [, ipv4, ipv6, published = '', target = ''] = match;
  const isLoopback = LOOPBACK.test(ipv4 ?? ipv6 ?? '');
  return !isLoopback || (published !== '' && !arePorts(published)) || !arePorts(target);
}

function arePorts(text: string): boolean {
  const [, first, last = first] = PORTS.exec(text) ?? [];
  return Number(first) >= 1 && Number(first) <= Number(last) && Number(last) <= 65_535;
}

function isSource(source: string): boolean {
  return VOLUME_NAME.test(source) || isDataFolder(source);
}

function isDataFolder(source: string): boolean {
  return DATA_FOLDER.test(source) && !source.split('/').includes('..');
}

function isTarget(target: string): boolean {
  return target.startsWith('/') && !target.split('/').includes('..');
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
