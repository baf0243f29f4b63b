import { ClawError } from '../../errors.ts';
import { portFault, volumeFault } from './service-host.ts';

const SERVICE_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,62}$/;

type Check = (value: unknown) => string | null;

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
