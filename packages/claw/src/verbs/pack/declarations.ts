import type { TreeFile } from '@patchclaw/merge';
import { type Document, isMap, isScalar, isSeq, type YAMLSeq } from 'yaml';
import { isOwnValue, type OwnValues } from '../../operation/secrets.ts';
import { envData, envMap } from '../../structured/env.ts';
import { intersectRanges } from '../../structured/npm/ranges.ts';
import type { StructuredKind } from '../../structured/structured-kind.ts';
import { dataOf } from '../../structured/value-edit.ts';

/** A structured file before and after the edits that a package is made of. */
export type StructuredEdit = {
  readonly kind: StructuredKind;
  readonly before: TreeFile | null;
  readonly after: TreeFile | null;
};

/** One key below `structured` of a manifest, and its new value; null if it is removed. */
export type Declaration = {
  readonly section: readonly string[];
  readonly key: string;
  readonly value: unknown;
};

/**
 * Returns the declarations in edits of structured files: packages, settings and services that are new, changed or
 * removed. Edits that a skill cannot declare (npm scripts) are left out; composing shows that they are missing.
 *
 * @param own values that no package may carry, so that they are no examples
 * @param settings names that the skill declares already: of any other a new comment declares nothing
 */
export function declarationsOf(
  edits: readonly StructuredEdit[],
  own: OwnValues,
  settings: ReadonlySet<string> = new Set(),
): readonly Declaration[] {
  return edits.flatMap((edit) => declaredBy(edit, own, settings));
}

/** Writes declarations into a manifest; everything else in it stays, including comments. */
export function declare(document: Document, declarations: readonly Declaration[]): void {
  for (const { section, key, value } of declarations) {
    const place = ['structured', ...section];
    for (let at = 1; at <= place.length; at += 1) beginAsBlock(document, place.slice(0, at));
    const isList = ['env_additions', 'apt_packages'].includes(section.at(-1) ?? '');
    if (isList) declareInList(document, place, key, value);
    else if (value === null) document.deleteIn([...place, key]);
    else document.setIn([...place, key], document.createNode(value));
    const other = OTHER_SECTION[section[0] ?? ''];
    const former = ['structured', other ?? '', key];
    if (other !== undefined && document.hasIn(former)) document.deleteIn(former);
    for (let at = place.length; at > 0; at -= 1) dropEmpty(document, place.slice(0, at));
  }
}

function declaredBy(
  { kind, before, after }: StructuredEdit,
  own: OwnValues,
  settings: ReadonlySet<string>,
): Declaration[] {
  const old = before ? dataOf(kind, before.bytes) : {};
  const now = after ? dataOf(kind, after.bytes) : {};
  switch (kind) {
    case 'npm':
      return packagesDeclared(packagesOf(old), packagesOf(now));
    case 'env':
      return settingsDeclared(settingsIn(before, own), settingsIn(after, own), settings);
    case 'compose':
      return changed(['docker_compose_services'], servicesOf(old), servicesOf(now));
    case 'container':
      return [
        ...changed(
          ['container', 'npm_dependencies'],
          asRecord(asRecord(old)['npm']),
          asRecord(asRecord(now)['npm']),
        ),
        ...changed(['container', 'apt_packages'], aptIn(old), aptIn(now)),
      ];
    default:
      return [];
  }
}

/** The two sections of packages; each package is in one of them. */
const OTHER_SECTION: Readonly<Record<string, string>> = {
  npm_dependencies: 'npm_overrides',
  npm_overrides: 'npm_dependencies',
};

/**
 * Declares changed packages. A range without a common version with the old one replaces it as an override.
 */
function packagesDeclared(
  old: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): Declaration[] {
  return changed(['npm_dependencies'], old, now).map((declaration) => {
    const ranges = [old[declaration.key], declaration.value];
    const isApart =
      ranges.every((range) => typeof range === 'string') &&
      intersectRanges(ranges.map(String)) === null;
    return isApart ? { ...declaration, section: ['npm_overrides'] } : declaration;
  });
}

/** Declares changed settings. A comment that changes alone counts only above a setting of the skill's own. */
function settingsDeclared(
  old: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
  settings: ReadonlySet<string>,
): Declaration[] {
  const isRewordedOnly = (name: string) =>
    name in old && name in now && exampleOf(old[name]) === exampleOf(now[name]);
  return changed(['env_additions'], old, now).filter(
    ({ key }) => settings.has(key) || !isRewordedOnly(key),
  );
}

function exampleOf(setting: unknown): unknown {
  return asRecord(setting)['example'];
}

function settingsIn(file: TreeFile | null, own: OwnValues): Readonly<Record<string, unknown>> {
  const entries = [...readSettings(file)].map(([name, { example, description }]) => {
    const isShown = example !== '' && !isOwnValue(own, name, example);
    const setting = {
      name,
      ...(description === null ? {} : { description }),
      ...(isShown ? { example } : {}),
    };
    return [name, Object.keys(setting).length === 1 ? name : setting] as const;
  });
  return Object.fromEntries(entries);
}

/** A setting of `.env.example` as an author wrote it. */
type WrittenSetting = { readonly example: string; readonly description: string | null };

/** Reads the settings of an env file by name, each with the comment right above it. */
function readSettings(file: TreeFile | null): ReadonlyMap<string, WrittenSetting> {
  if (file === null) return new Map();
  const values = envData(file.bytes);
  const { chunks } = envMap(file.bytes.toString('utf8'));
  return new Map(
    chunks.map(({ key, lead }) => [
      key,
      { example: values[key] ?? '', description: commentIn(lead) },
    ]),
  );
}

/**
 * Returns the comment that ends right above a setting: what a blank line or a setting in comments parts is
 * not its own.
 */
function commentIn(lead: readonly string[]): string | null {
  const lines: string[] = [];
  for (const line of [...lead].reverse()) {
    const text = /^\s*#+\s?(.*?)\s*$/.exec(line)?.[1];
    if (text === undefined || /^[A-Z][A-Z0-9_]*=/.test(text)) break;
    // Written by claw for a setting whose example is no value.
    if (!text.startsWith('Looks like ')) lines.unshift(text);
  }
  return lines.length === 0 ? null : lines.join('\n');
}

function aptIn(data: unknown): Readonly<Record<string, unknown>> {
  const names = asRecord(data)['apt'];
  return Object.fromEntries(
    (Array.isArray(names) ? names : []).map((name) => [String(name), String(name)]),
  );
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
  section: readonly string[],
  old: Readonly<Record<string, unknown>>,
  now: Readonly<Record<string, unknown>>,
): Declaration[] {
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((key) => JSON.stringify(old[key]) !== JSON.stringify(now[key]))
    .map((key) => ({ section, key, value: now[key] ?? null }));
}

/** Declares a value in a list of names, or of maps with a `name`; the map's other keys stay. */
function declareInList(
  document: Document,
  place: readonly string[],
  key: string,
  value: unknown,
): void {
  const list = document.getIn(place);
  if (!isSeq(list)) {
    if (value !== null) document.setIn(place, document.createNode([value]));
    return;
  }
  const at = list.items.findIndex((item) => nameOf(item) === key);
  const present = at === -1 ? null : list.items[at];
  if (value === null) {
    if (at !== -1) list.items.splice(at, 1);
  } else if (isMap(present)) {
    const said = typeof value === 'string' ? { name: value } : asRecord(value);
    // A secret's example is never written as a value, so its absence means nothing.
    const known = ['description', ...(present.get('secret') === true ? [] : ['example'])];
    for (const name of known) if (!(name in said)) present.delete(name);
    for (const [name, text] of Object.entries(said)) present.set(name, text);
  } else put(list, at, document.createNode(value));
}

function put(list: YAMLSeq, at: number, node: unknown): void {
  if (at === -1) list.items.push(node);
  else list.items[at] = node;
}

function nameOf(item: unknown): unknown {
  if (isMap(item)) return item.get('name');
  return isScalar(item) ? item.value : null;
}

/**
 * Makes an empty value begin as a block. Written as `{}` or `[]`, it would keep everything added to it on one line.
 */
function beginAsBlock(document: Document, place: readonly string[]): void {
  const node = document.getIn(place);
  if ((isMap(node) || isSeq(node)) && node.items.length === 0) node.flow = false;
}

function dropEmpty(document: Document, place: readonly string[]): void {
  const node = document.getIn(place);
  if ((isMap(node) || isSeq(node)) && node.items.length === 0) document.deleteIn(place);
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? Object.fromEntries(Object.entries(value)) : {};
}
