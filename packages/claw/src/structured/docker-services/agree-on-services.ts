import type { Conflict } from '../../conflict.ts';
import { canonicalValue, dataAt, dataWith, isPlainMap, shorten } from '../canonical-value.ts';
import { CORE, type StructuredInput } from '../declaration.ts';
import { disagreement } from '../disagreement.ts';
import { collide, type HostPorts, hostPortsOf, showPorts } from './host-ports.ts';

/** A service and the layer that said the last word about it. */
type Owned = { readonly layer: string; readonly name: string; readonly service: unknown };

/** The services that layers add, or why they cannot all be there. */
export type AgreedServices = {
  readonly added: Readonly<Record<string, unknown>>;
  /** Decisions about services of the core. */
  readonly changes: readonly DecidedKey[];
  /** All services that layers declare, as they came to be, by name. */
  readonly declared: Readonly<Record<string, unknown>>;
  readonly conflicts: readonly Conflict[];
};

export type DecidedKey = {
  readonly keys: readonly string[];
  readonly value: unknown;
  readonly conflict: Conflict;
};

type Agreement = {
  readonly input: StructuredInput;
  readonly core: Readonly<Record<string, unknown>>;
  readonly services: Map<string, Owned>;
  readonly changes: DecidedKey[];
  readonly conflicts: Conflict[];
};

/**
 * Puts together the services of the core and of all layers. The same definition twice is one; another
 * definition under a name, and another service on a host port, are conflicts that name both parties.
 */
export function agreeOnServices(data: unknown, input: StructuredInput): AgreedServices {
  const services = dataAt(data, ['services']);
  const core = isPlainMap(services) ? services : {};
  const agreement: Agreement = {
    input,
    core,
    services: new Map(
      Object.entries(core).map(([name, service]) => [name, { layer: CORE, name, service }]),
    ),
    changes: [],
    conflicts: [],
  };
  const declared = declaredServices(input);
  for (const owned of declared) agreeOnName(agreement, owned);
  const refused = agreeOnPorts(agreement);
  const names = [...new Set(declared.map(({ name }) => name))].sort();
  const pick = (wanted: readonly string[]) =>
    Object.fromEntries(wanted.map((name) => [name, agreement.services.get(name)?.service]));
  return {
    added: pick(names.filter((name) => !Object.hasOwn(core, name) && !refused.has(name))),
    changes: agreement.changes,
    declared: pick(names),
    conflicts: agreement.conflicts,
  };
}

function declaredServices({ declarations }: StructuredInput): readonly Owned[] {
  return declarations.flatMap(({ layer, structured }) =>
    Object.entries(structured.composeServices).map(([name, service]) => ({ layer, name, service })),
  );
}

function agreeOnName(agreement: Agreement, owned: Owned): void {
  const { name } = owned;
  const same = agreement.services.get(name);
  if (same === undefined) {
    agreement.services.set(name, owned);
    return;
  }
  for (const key of differingKeys(same.service, owned.service)) {
    const present = agreement.services.get(name) ?? same;
    const [ours, theirs] = [present, owned].map(({ service }) => dataAt(service, [key]));
    decide(agreement, owned, {
      key,
      values: { ours, theirs },
      layers: [present.layer, owned.layer],
      reason:
        `${present.layer} and ${owned.layer} define the service ${name} differently: ` +
        `${key} is ${show(ours)} and ${show(theirs)}.`,
    });
  }
}

function differingKeys(one: unknown, other: unknown): readonly string[] {
  const [left, right] = [one, other].map((service) => (isPlainMap(service) ? service : {}));
  const keys = [...new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})])].sort();
  return keys.filter((key) => canonicalValue(left?.[key]) !== canonicalValue(right?.[key]));
}

/** Returns the names of the services that cannot have their ports. The core's services come first. */
function agreeOnPorts(agreement: Agreement): ReadonlySet<string> {
  const refused = new Set<string>();
  const changed = new Set(agreement.changes.map(({ keys }) => keys[1]));
  const isAgreed = ({ name }: Owned) => Object.hasOwn(agreement.core, name) && !changed.has(name);
  const all = [...agreement.services.values()];
  const present = all.filter(isAgreed);
  for (const owned of all.filter((one) => !isAgreed(one))) {
    const agreed = agreeOnPortsOf(agreement, owned.name, present);
    if (agreed === null) refused.add(owned.name);
    else present.push(agreed);
  }
  return refused;
}

function agreeOnPortsOf(
  agreement: Agreement,
  name: string,
  present: readonly Owned[],
): Owned | null {
  const tried = new Set<string>();
  for (;;) {
    const owned = agreement.services.get(name);
    const taken = owned && takenPort(present, owned);
    if (owned === undefined || taken === undefined) return owned ?? null;
    const [ours, theirs] = [taken.by, owned].map(({ service }) => dataAt(service, ['ports']));
    // A decision for ports that were tried before would only go in circles.
    const isNew = !tried.has(canonicalValue(theirs));
    tried.add(canonicalValue(theirs));
    const isDecided = decide(
      isNew ? agreement : { ...agreement, input: undecided(agreement) },
      owned,
      {
        key: 'ports',
        values: { ours, theirs },
        layers: [taken.by.layer, owned.layer],
        reason:
          `${taken.by.name} of ${taken.by.layer} and ${name} of ${owned.layer} both want the host ` +
          `port ${showPorts(taken.port)}.`,
      },
    );
    if (!isDecided) return null;
  }
}

function undecided({ input }: Agreement): StructuredInput {
  return { ...input, decide: undefined };
}

function takenPort(
  present: readonly Owned[],
  owned: Owned,
): { readonly by: Owned; readonly port: HostPorts } | undefined {
  const wanted = hostPortsOf(owned.service);
  return present
    .flatMap((by) => hostPortsOf(by.service).map((port) => ({ by, port })))
    .find(({ port }) => wanted.some((one) => collide(one, port)));
}

type Dispute = {
  readonly key: string;
  readonly values: { readonly ours: unknown; readonly theirs: unknown };
  readonly layers: Conflict['layers'];
  readonly reason: string;
};

/** Asks what was decided about a key of a service, and notes the decision, or else the conflict. */
function decide(agreement: Agreement, { name, layer }: Owned, dispute: Dispute): boolean {
  const { input, core, services } = agreement;
  const { path, release } = input;
  const { key, layers, reason, values } = dispute;
  const conflict = disagreement(`${path}#services.${name}.${key}`, layers, {
    reason,
    sides: { base: release, ours: release, theirs: release },
    values: {
      base: dataAt(core, [name, key]) ?? null,
      ours: values.ours ?? null,
      theirs: values.theirs ?? null,
    },
  });
  const decided = input.decide?.(conflict) ?? null;
  if (decided === null) {
    agreement.conflicts.push(conflict);
    return false;
  }
  const value = decided.value ?? null;
  const service = dataWith(services.get(name)?.service, [key], value);
  services.set(name, { name, layer, service });
  if (Object.hasOwn(core, name)) {
    agreement.changes.push({ keys: ['services', name, key], value, conflict });
  }
  return true;
}

function show(value: unknown): string {
  return value === undefined ? 'not there' : shorten(JSON.stringify(value));
}
