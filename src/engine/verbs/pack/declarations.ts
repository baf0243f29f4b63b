import { structuredKind } from '../../structured/kind.ts';
import { dataOf } from '../../structured/value-edit.ts';
import type { TreeFile } from '../../tree.ts';

/** A structured file before and after the edits that a package is made of. */
export type StructuredEdit = {
  readonly path: string;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
};

/** The `structured` part of a manifest, in its own spelling. */
export type Declarations = {
  readonly npm_dependencies?: Readonly<Record<string, string>>;
  readonly env_additions?: readonly (
    | string
    | { readonly name: string; readonly example: string }
  )[];
  readonly docker_compose_services?: Readonly<Record<string, unknown>>;
  readonly container?: {
    readonly npm_dependencies?: Readonly<Record<string, string>>;
    readonly apt_packages?: readonly string[];
  };
};

/**
 * What the edits of structured files declare: packages, settings and services that are new or changed.
 * What a skill cannot declare (npm scripts, removals) stays out; composing shows that it is missing.
 */
export function declarationsOf(edits: readonly StructuredEdit[]): Declarations {
  let declared: Declarations = {};
  for (const edit of edits) declared = { ...declared, ...declaredBy(edit) };
  return declared;
}

function declaredBy({ path, before, after }: StructuredEdit): Declarations {
  if (after === null) return {};
  const old = before ? dataOf(path, before.bytes) : {};
  const now = dataOf(path, after.bytes);
  switch (structuredKind(path)) {
    case 'npm':
      return unlessEmpty('npm_dependencies', changed(packagesOf(old), packagesOf(now)));
    case 'env': {
      const added = Object.entries(changed(asRecord(old), asRecord(now)));
      const entries = added.map(([name, example]) =>
        example === '' ? name : { name, example: String(example) },
      );
      return entries.length === 0 ? {} : { env_additions: entries };
    }
    case 'compose':
      return unlessEmpty('docker_compose_services', changed(servicesOf(old), servicesOf(now)));
    case 'container':
      return containerOf(old, now);
    default:
      return {};
  }
}

function containerOf(old: unknown, now: unknown): Declarations {
  const npm = changed(asRecord(asRecord(old)['npm']), asRecord(asRecord(now)['npm']));
  const known = new Set(asList(asRecord(old)['apt']));
  const apt = asList(asRecord(now)['apt']).filter((name) => !known.has(name));
  const container = {
    ...unlessEmpty('npm_dependencies', npm),
    ...(apt.length === 0 ? {} : { apt_packages: apt }),
  };
  return Object.keys(container).length === 0 ? {} : { container };
}

function packagesOf(data: unknown): Readonly<Record<string, unknown>> {
  const { dependencies, devDependencies, optionalDependencies } = asRecord(data);
  return {
    ...asRecord(devDependencies),
    ...asRecord(optionalDependencies),
    ...asRecord(dependencies),
  };
}

function servicesOf(data: unknown): Readonly<Record<string, unknown>> {
  return asRecord(asRecord(data)['services']);
}

function changed(
  old: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(now).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(old[key]),
  );
  return Object.fromEntries(entries);
}

function unlessEmpty(key: string, content: Readonly<Record<string, unknown>>): Declarations {
  return Object.keys(content).length === 0 ? {} : { [key]: content };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? Object.fromEntries(Object.entries(value)) : {};
}

function asList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
