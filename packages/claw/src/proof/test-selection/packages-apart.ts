import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies'];
const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json'];

type Entries = Readonly<Record<string, unknown>>;

/** Tells whether npm reads the packages of a project from this file. */
export function namesPackages(path: string): boolean {
  return ['package.json', ...LOCKS].includes(basename(path));
}

/**
 * Tells whether npm's package.json or lock file differ in nothing but packages that come or go. No code of the
 * tree notices those: what it imports stays in its version.
 */
export function isSameButForPackages(path: string, before: string, after: string): boolean {
  if (!namesPackages(path)) return false;
  const isLock = LOCKS.includes(basename(path));
  const [old, now] = [parse(before), parse(after)];
  if (old === null || now === null) return false;
  return isLock ? isSameLock(old, now) : isSameManifest(old, now);
}

function isSameManifest(old: Entries, now: Entries): boolean {
  return (
    isDeepStrictEqual(without(old, KINDS), without(now, KINDS)) &&
    KINDS.every((kind) => agrees(old[kind] ?? {}, now[kind] ?? {}))
  );
}

function isSameLock(old: Entries, now: Entries): boolean {
  const [packages, nowPackages] = [old['packages'], now['packages']];
  if (!isEntries(packages) || !isEntries(nowPackages)) return false;
  const [root, nowRoot] = [packages[''], nowPackages['']];
  if (!isEntries(root) || !isEntries(nowRoot)) return false;
  return (
    isDeepStrictEqual(without(old, ['packages']), without(now, ['packages'])) &&
    isSameManifest(root, nowRoot) &&
    agrees(without(packages, ['']), without(nowPackages, ['']))
  );
}

/** Tells whether names that both have mean the same in both. */
function agrees(old: unknown, now: unknown): boolean {
  if (!isEntries(old) || !isEntries(now)) return false;
  return Object.entries(old).every(
    ([name, value]) => !Object.hasOwn(now, name) || isDeepStrictEqual(now[name], value),
  );
}

function without(entries: Entries, names: readonly string[]): Entries {
  return Object.fromEntries(Object.entries(entries).filter(([name]) => !names.includes(name)));
}

function parse(text: string): Entries | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return isEntries(parsed) ? parsed : null;
  } catch {
    return null; // Whatever it is, tests tell more.
  }
}

function isEntries(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
