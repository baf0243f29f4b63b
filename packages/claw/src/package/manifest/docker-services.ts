import { ClawError } from '../../errors.ts';

const SERVICE_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/;

type Check = (value: unknown) => string | null;

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
function portFault(port: unknown): string | null {
  const advice = 'publish it on loopback, as in "127.0.0.1:8080:80"';
  if (typeof port === 'string') return shortPortFault(port) ? `"${port}": ${advice}` : null;
  if (!isYamlMap(port)) return `${JSON.stringify(port)}: ${advice}`;
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
function volumeFault(volume: unknown): string | null {
  const advice = 'mount a named volume or a folder under ./data';
  if (typeof volume === 'string') {
    const [source = '', target = '', mode = 'rw', ...rest] = volume.split(':');
    const isFine =
      rest.length === 0 && ['rw', 'ro'].includes(mode) && isSource(source) && isTarget(target);
    return isFine ? null : `"${volume}": ${advice}`;
  }
  if (!isYamlMap(volume)) return `${JSON.stringify(volume)}: ${advice}`;
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

function isYamlMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// The only keys of a service: none that mounts, builds, or lends it rights of the host.
const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['image', text],
  ['command', textOrTexts],
  ['environment', scalarsByName],
  ['ports', eachOf(portFault)],
  ['volumes', eachOf(volumeFault)],
  ['restart', text],
  ['depends_on', namesOrMap],
  ['healthcheck', map],
  ['expose', eachOf(scalar)],
  ['labels', scalarsByName],
  ['user', scalar],
  ['read_only', flag],
  ['tmpfs', textOrTexts],
  ['mem_limit', scalar],
  ['mem_reservation', scalar],
  ['memswap_limit', scalar],
  ['cpus', scalar],
  ['cpu_count', scalar],
  ['cpu_percent', scalar],
  ['cpu_shares', scalar],
  ['cpu_period', scalar],
  ['cpu_quota', scalar],
  ['cpuset', scalar],
]);

/**
 * Checks the services that a package adds to the compose file. They may reach the host through a port on its
 * loopback, a volume of their own or the folder `./data`, and in no other way.
 *
 * @throws ClawError COMPOSE_REFUSED with the place in the manifest
 */
export function checkServices(services: Readonly<Record<string, unknown>>): void {
  for (const [name, service] of Object.entries(services)) {
    const place = `structured.docker_compose_services.${name}`;
    if (!SERVICE_NAME.test(name)) {
      throw refusal(place, `${JSON.stringify(name)} is not a valid name of a service`);
    }
    if (!isMap(service)) throw refusal(place, 'a service is a map of settings');
    for (const [key, value] of Object.entries(service)) {
      if (!CHECKS.has(key)) {
        throw refusal(`${place}.${key}`, `allowed are only ${[...CHECKS.keys()].join(', ')}`);
      }
      const fault = settingFault(key, value);
      if (fault !== null) throw refusal(`${place}.${key}`, fault);
    }
  }
}

/**
 * Returns the reason that a service may not have a value at a key, or null; keys that skills cannot set pass.
 */
export function settingFault(key: string, value: unknown): string | null {
  return CHECKS.get(key)?.(value) ?? null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? null : 'must be text';
}

function scalar(value: unknown): string | null {
  return ['string', 'number'].includes(typeof value) ? null : 'must be text or a number';
}

function flag(value: unknown): string | null {
  return typeof value === 'boolean' ? null : 'must be true or false';
}

function map(value: unknown): string | null {
  return isMap(value) ? null : 'must be a map';
}

function textOrTexts(value: unknown): string | null {
  return Array.isArray(value) ? eachOf(text)(value) : text(value);
}

function namesOrMap(value: unknown): string | null {
  return Array.isArray(value) ? eachOf(text)(value) : map(value);
}

function scalarsByName(value: unknown): string | null {
  if (Array.isArray(value)) return eachOf(text)(value);
  const isPlain =
    isMap(value) && Object.values(value).every((item) => typeof item !== 'object' || item === null);
  return isPlain ? null : 'must be a list, or a map with a plain value for each name';
}

function eachOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value)) return 'must be a list';
    return value.map(check).find((fault) => fault !== null) ?? null;
  };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refusal(key: string, reason: string): ClawError {
  const path = `manifest.yaml:${key}`;
  return new ClawError('COMPOSE_REFUSED', `${path}: ${reason}.`, { path });
}
