import type { Conflict } from '../conflict.ts';
import { CORE, type StructuredInput } from './declaration.ts';
import { disagreement } from './disagreement.ts';
import { collide, type HostPorts, hostPortsOf, showPorts } from './ports.ts';
import { canonicalValue, isPlainMap, shorten } from './values.ts';

type Owned = { readonly layer: string; readonly name: string; readonly service: unknown };

/** The services that layers add, or why they cannot all be there. */
export type AgreedServices = {
  readonly added: Readonly<Record<string, unknown>>;
  readonly conflicts: readonly Conflict[];
};

/**
 * Puts together the services of the core and of all layers. The same definition twice is one; another
 * definition under a name, and another service on a host port, are conflicts that name both parties.
 */
export function agreeOnServices(core: unknown, input: StructuredInput): AgreedServices {
  const present: Owned[] = [];
  const added: Owned[] = [];
  const conflicts: Conflict[] = [];
  const coreServices = isPlainMap(core) && isPlainMap(core['services']) ? core['services'] : {};
  for (const [name, service] of Object.entries(coreServices)) {
    present.push({ layer: CORE, name, service });
  }
  for (const owned of declaredServices(input)) {
    const same = present.find(({ name }) => name === owned.name);
    const found =
      same === undefined ? portClash(present, owned, input) : nameClashes(same, owned, input);
    conflicts.push(...found);
    if (same !== undefined || found.length > 0) continue;
    present.push(owned);
    added.push(owned);
  }
  const sorted = added.sort((one, other) => (one.name < other.name ? -1 : 1));
  return {
    added: Object.fromEntries(sorted.map(({ name, service }) => [name, service])),
    conflicts,
  };
}

/** The named volumes that services mount, sorted. */
export function namedVolumes(services: Readonly<Record<string, unknown>>): readonly string[] {
  const sources = Object.values(services).flatMap((service) => {
    const volumes = isPlainMap(service) ? service['volumes'] : null;
    return Array.isArray(volumes) ? volumes.map(volumeSource) : [];
  });
  const isName = (source: unknown) => typeof source === 'string' && /^[A-Za-z0-9]/.test(source);
  return [...new Set(sources.filter((source) => isName(source)).map(String))].sort();
}

function volumeSource(volume: unknown): unknown {
  if (typeof volume === 'string') return volume.includes(':') ? volume.split(':')[0] : null;
  return isPlainMap(volume) && volume['type'] === 'volume' ? volume['source'] : null;
}

function declaredServices({ declarations }: StructuredInput): readonly Owned[] {
  return declarations.flatMap(({ layer, structured }) =>
    Object.entries(structured.composeServices).map(([name, service]) => ({ layer, name, service })),
  );
}

function nameClashes(one: Owned, other: Owned, input: StructuredInput): readonly Conflict[] {
  if (canonicalValue(one.service) === canonicalValue(other.service)) return [];
  const [left, right] = [one.service, other.service].map((service) =>
    isPlainMap(service) ? service : {},
  );
  const keys = [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])].sort();
  return keys
    .filter((key) => canonicalValue(left?.[key]) !== canonicalValue(right?.[key]))
    .map((key) =>
      conflictAt(`services.${other.name}.${key}`, [one, other], {
        input,
        reason:
          `${one.layer} and ${other.layer} define the service ${other.name} differently: ` +
          `${key} is ${show(left?.[key])} and ${show(right?.[key])}.`,
      }),
    );
}

function portClash(
  present: readonly Owned[],
  owned: Owned,
  input: StructuredInput,
): readonly Conflict[] {
  const wanted = hostPortsOf(owned.service);
  for (const other of present) {
    const port = hostPortsOf(other.service).find((taken: HostPorts) =>
      wanted.some((one) => collide(one, taken)),
    );
    if (port === undefined) continue;
    const reason =
      `${other.name} of ${other.layer} and ${owned.name} of ${owned.layer} both want the host ` +
      `port ${showPorts(port)}.`;
    return [conflictAt(`services.${owned.name}.ports`, [other, owned], { input, reason })];
  }
  return [];
}

function conflictAt(
  keys: string,
  [one, other]: readonly [Owned, Owned],
  { input, reason }: { readonly input: StructuredInput; readonly reason: string },
): Conflict {
  const { path, release } = input;
  const sides = { base: release, ours: release, theirs: release };
  return disagreement(`${path}#${keys}`, [one.layer, other.layer], { reason, sides });
}

function show(value: unknown): string {
  return value === undefined ? 'not there' : shorten(JSON.stringify(value));
}
