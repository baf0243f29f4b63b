import type { Versions } from '@patchclaw/merge';
import type { Conflict } from '../../conflict.ts';
import type { Decide } from '../decide.ts';
import { disagreement } from '../disagreement.ts';
import { dataOf, setAt } from '../value-edit.ts';
import { canonicalValue, dataAt, isPlainMap } from '../values.ts';
import { collide, hostPortsOf, showPorts } from './ports.ts';

type Merge = {
  readonly path: string;
  readonly layers: readonly [ours: string, theirs: string];
  readonly versions: Versions<Buffer | null>;
  readonly decide?: Decide | undefined;
};

type Services = Readonly<Record<string, unknown>>;
type Pair = { readonly kept: string; readonly come: string; readonly port: string };

/**
 * Finds services that a merge by key brought together although they want one host port: no key is
 * disputed, and yet they cannot both run. What one side has by itself already is its own affair.
 */
export function resolvePorts(
  merge: Merge,
  merged: Buffer,
): { readonly bytes: Buffer; readonly conflicts: readonly Conflict[] } {
  const { versions } = merge;
  const ours = servicesOf(versions.ours);
  const theirs = servicesOf(versions.theirs);
  const tried = new Set<string>();
  let bytes = merged;
  for (;;) {
    const services = servicesOf(bytes);
    const pair = findPair(services, { ours, theirs });
    if (pair === null) return { bytes, conflicts: [] };
    const conflict = conflictOver(merge, services, pair);
    const state = canonicalValue(services);
    const decided = tried.has(state) ? null : (merge.decide?.(conflict) ?? null);
    tried.add(state);
    const keys = ['services', pair.come, 'ports'];
    const set = decided && setAt({ kind: 'compose', bytes }, keys, decided.value ?? null);
    if (set === null) return { bytes, conflicts: [conflict] };
    bytes = set;
  }
}

function findPair(
  services: Services,
  { ours, theirs }: { readonly ours: Services; readonly theirs: Services },
): Pair | null {
  const names = Object.keys(services);
  for (const [at, one] of names.entries()) {
    for (const other of names.slice(at + 1)) {
      const port = sharedPort(services[one], services[other]);
      if (port === null || isWithin(ours, one, other) || isWithin(theirs, one, other)) continue;
      const isOurs = canonicalValue(ours[one]) === canonicalValue(services[one]);
      return isOurs ? { kept: one, come: other, port } : { kept: other, come: one, port };
    }
  }
  return null;
}

function isWithin(services: Services, one: string, other: string): boolean {
  return sharedPort(services[one], services[other]) !== null;
}

function sharedPort(one: unknown, other: unknown): string | null {
  const wanted = hostPortsOf(one);
  const port = hostPortsOf(other).find((taken) => wanted.some((port) => collide(port, taken)));
  return port === undefined ? null : showPorts(port);
}

function conflictOver(
  { path, layers, versions }: Merge,
  services: Services,
  { kept, come, port }: Pair,
): Conflict {
  const portsOf = (from: Services, name: string) => dataAt(from, [name, 'ports']) ?? null;
  return disagreement(`${path}#services.${come}.ports`, layers, {
    reason: `${kept} of ${layers[0]} and ${come} of ${layers[1]} both want the host port ${port}.`,
    sides: versions,
    values: {
      base: portsOf(servicesOf(versions.base), come),
      ours: portsOf(services, kept),
      theirs: portsOf(services, come),
    },
  });
}

function servicesOf(bytes: Buffer | null): Services {
  const services = bytes === null ? null : dataAt(dataOf('compose', bytes), ['services']);
  return isPlainMap(services) ? services : {};
}
