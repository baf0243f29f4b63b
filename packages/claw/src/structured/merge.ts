import type { Versions } from '@patchclaw/merge';
import { gt, valid } from 'semver';
import type { Conflict } from '../conflict.ts';
import { canonicalValue, dataAt, isPlainMap } from './canonical-value.ts';
import type { Decide } from './declaration.ts';
import { disagreement, modifyDelete, unreadable } from './disagreement.ts';
import { collide, hostPortsOf, showPorts } from './docker-services/host-ports.ts';
import { readYaml } from './docker-services/yaml-text.ts';
import { envMap } from './env.ts';
import { type KeyClash, mergeJson } from './json/json-merge.ts';
import { type Fault, jsonBytes, readJson } from './json/json-text.ts';
import { eolOf, joinLines, type KeyedMap } from './json/keyed-lines.ts';
import { mergeKeyed } from './json/keyed-merge.ts';
import type { StructuredKind } from './structured-kind.ts';
import { dataOf, setAt } from './value-edit.ts';

export type StructuredMergeInput = {
  readonly path: string;
  readonly kind: StructuredKind;
  readonly versions: Versions<Buffer | null>;
  readonly layers: readonly [ours: string, theirs: string];
  /** Asked before a disagreement becomes a conflict. */
  readonly decide?: Decide | undefined;
};

export type StructuredMerge = {
  /** Ours with what theirs changed; at a disputed key what was decided, else ours. */
  readonly bytes: Buffer | null;
  readonly conflicts: readonly Conflict[];
};

type KeyedMerge = { readonly bytes: Buffer; readonly clashes: readonly KeyClash[] };
type Present = Versions<Buffer>;

/**
 * Merges two edits of a structured file by key. Outside the keys that theirs changed, the bytes of ours are
 * kept; a key that both sides changed differently is a conflict such as `package.json#a.b`.
 *
 * A lock file that both sides changed stays ours: npm updates it from there. A side that cannot be read is a
 * `content` conflict over the whole file, never an exception.
 */
export function mergeStructured(input: StructuredMergeInput): StructuredMerge {
  const { base, ours, theirs } = input.versions;
  if (isSame(base, theirs) || isSame(ours, theirs)) return { bytes: ours, conflicts: [] };
  if (isSame(base, ours)) return { bytes: theirs, conflicts: [] };
  if (ours === null || theirs === null) return deletionAgainstEdit(input);
  const { kind } = input;
  if (kind === 'lock') return { bytes: ours, conflicts: [] };
  const present = { base, ours, theirs };
  switch (kind) {
    case 'env':
      return mergeEnv(input, { ...present, base: base ?? Buffer.alloc(0) });
    case 'compose':
      return mergeYaml(input, { ...present, base: base ?? Buffer.alloc(0) });
    default: {
      const sets = kind === 'container' ? ['apt'] : [];
      return mergeObjects(input, { ...present, base: base ?? Buffer.from('{}') }, sets);
    }
  }
}

function mergeObjects(
  input: StructuredMergeInput,
  present: Present,
  sets: readonly string[],
): StructuredMerge {
  const files = readSides(present, readJson);
  if ('fault' in files) return unreadableSide(input, files);
  const { text, clashes } = mergeJson(files, sets);
  return concluded(input, { bytes: jsonBytes(text, present.ours), clashes });
}

function mergeYaml(input: StructuredMergeInput, present: Present): StructuredMerge {
  const files = readSides(present, readYaml);
  if ('fault' in files) return unreadableSide(input, files);
  const { base, ours, theirs } = files;
  const maps = { base: base.map, ours: ours.map, theirs: theirs.map };
  const merged = mergeLines(maps, present);
  const written = readYaml(merged.bytes);
  // Lines that make sense apart may not make sense together: an alias whose anchor the other side took.
  if ('line' in written) return unreadableSide(input, { side: 'merged', fault: written });
  const concludedMerge = concluded(input, merged);
  if (concludedMerge.bytes === null || concludedMerge.conflicts.length > 0) return concludedMerge;
  return resolvePorts(input, concludedMerge.bytes);
}

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
function resolvePorts(
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

function mergeEnv(input: StructuredMergeInput, present: Present): StructuredMerge {
  const [base, ours, theirs] = [present.base, present.ours, present.theirs].map((bytes) =>
    envMap(bytes.toString('latin1')),
  );
  if (base === undefined || ours === undefined || theirs === undefined) {
    return { bytes: present.ours, conflicts: [] };
  }
  return concluded(input, mergeLines({ base, ours, theirs }, present, 'latin1'));
}

function mergeLines(
  maps: Versions<KeyedMap>,
  present: Present,
  encoding: 'utf8' | 'latin1' = 'utf8',
): KeyedMerge {
  const eol = eolOf(present.ours.toString(encoding));
  const { lines, clashes } = mergeKeyed(maps, eol);
  return { bytes: Buffer.from(joinLines(lines, eol), encoding), clashes };
}

function concluded(input: StructuredMergeInput, { bytes, clashes }: KeyedMerge): StructuredMerge {
  const { path, kind, layers, versions: sides } = input;
  const conflicts: Conflict[] = [];
  let merged = bytes;
  for (const { keys, reason } of clashes) {
    const conflict = disagreement(`${path}#${keys.join('.')}`, layers, {
      reason: `${layers[0]} and ${layers[1]} changed ${keys.join('.')}: ${reason}.`,
      sides,
      values: valuesAt(input, keys),
    });
    const raised = higherVersion(kind, keys, conflict.values);
    const decided = input.decide?.(conflict) ?? (raised === null ? null : { value: raised });
    const set = decided && setAt({ kind, bytes: merged }, keys, decided.value ?? null);
    if (set === null) conflicts.push(conflict);
    else merged = set;
  }
  return { bytes: merged, conflicts };
}

/** Returns the higher version of a package whose version both sides have raised; null for everything else. */
function higherVersion(
  kind: StructuredKind,
  keys: readonly string[],
  values: Versions<unknown> | null | undefined,
): string | null {
  if (kind !== 'npm' || keys.join('.') !== 'version' || !values) return null;
  const [base, ours, theirs] = [values.base, values.ours, values.theirs].map((value) =>
    typeof value === 'string' ? valid(value) : null,
  );
  if (!base || !ours || !theirs || !gt(ours, base) || !gt(theirs, base)) return null;
  return gt(ours, theirs) ? ours : theirs;
}

function valuesAt(
  { kind, versions: { base, ours, theirs } }: StructuredMergeInput,
  keys: readonly string[],
): Versions<unknown> {
  const valueIn = (bytes: Buffer | null) =>
    bytes === null ? null : (dataAt(dataOf(kind, bytes), keys) ?? null);
  return { base: valueIn(base), ours: valueIn(ours), theirs: valueIn(theirs) };
}

type UnreadableSide = { readonly side: string; readonly fault: Fault };

function readSides<T extends object>(
  present: Present,
  read: (bytes: Buffer) => T | Fault,
): Versions<T> | UnreadableSide {
  const base = read(present.base);
  if (isFault(base)) return { side: 'base', fault: base };
  const ours = read(present.ours);
  if (isFault(ours)) return { side: 'ours', fault: ours };
  const theirs = read(present.theirs);
  return isFault(theirs) ? { side: 'theirs', fault: theirs } : { base, ours, theirs };
}

function isFault(value: object): value is Fault {
  return 'line' in value && 'reason' in value;
}

function unreadableSide(
  { path, layers, versions }: StructuredMergeInput,
  { side, fault }: UnreadableSide,
): StructuredMerge {
  const [ours, theirs] = layers;
  const names = new Map([
    ['base', 'as it was before'],
    ['ours', `of ${ours}`],
    ['theirs', `of ${theirs}`],
    ['merged', `that ${ours} and ${theirs} would make together`],
  ]);
  const reason = `${path} ${names.get(side)} cannot be read (line ${fault.line}: ${fault.reason}).`;
  return {
    bytes: versions.ours,
    conflicts: [unreadable(path, layers, { reason, sides: versions })],
  };
}

function deletionAgainstEdit({ path, layers, versions }: StructuredMergeInput): StructuredMerge {
  const [ours, theirs] = layers;
  const [deleter, editor] = versions.ours === null ? [ours, theirs] : [theirs, ours];
  const reason = `${deleter} deletes ${path}, but ${editor} has changed it.`;
  return {
    bytes: versions.ours,
    conflicts: [modifyDelete(path, layers, { reason, sides: versions })],
  };
}

function isSame(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}
