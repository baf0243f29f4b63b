import { dirname, matchesGlob } from 'node:path';
import { ClawError } from '../errors.ts';
import { createConsent } from '../package/checks/protection.ts';
import { shellWord } from '../shell-word.ts';
import { newOverrides, overrideNote } from './overrides.ts';
import type { Operation } from './types.ts';

/**
 * Refuses changes that need the owner's named consent: of files that run on their own or steer a tool, and of
 * ranges of the core that a skill replaces.
 *
 * @throws ClawError CONSENT_NEEDED with the names to allow in `data.paths`
 */
export function checkConsent(operation: Operation, allow: readonly string[]): void {
  const names = missingConsent(operation, allow);
  const [first] = names;
  if (first === undefined) return;
  const overrides = newOverrides(operation).filter(({ consent }) => names.includes(consent));
  const paths = names.filter((name) => overrides.every(({ consent }) => consent !== name));
  const flags = shortNames(names)
    .map((name) => `--allow ${shellWord(name)}`)
    .join(' ');
  const reasons = [
    ...(paths.length > 0
      ? [`This would change ${listed(paths)}, which can run code or configure tools.`]
      : []),
    ...overrides.map(overrideNote),
  ];
  throw new ClawError('CONSENT_NEEDED', `${reasons.join(' ')} Look at it, then add ${flags}.`, {
    path: first,
    data: { paths: names },
  });
}

/** Returns the paths and overrides of a plan that the owner has yet to name with `--allow`. */
export function missingConsent(operation: Operation, allow: readonly string[]): readonly string[] {
  const consent = createConsent(operation.installation.config.private);
  const changed = operation.plan.changes.map(({ path }) => path);
  const paths = changed.filter((path) => consent.protectedBy(path) !== null);
  return [...paths, ...newOverrides(operation).map(({ consent }) => consent)].filter(
    (path) => !allow.some((given) => isAllowed(path, given)),
  );
}

/** Tells whether a name is one that the owner has named: itself, in a folder, or by a pattern. */
export function isAllowed(path: string, given: string): boolean {
  if (given === path || matchesGlob(path, given)) return true;
  const folder = given.replace(/\/+$/, '');
  return folder !== '' && path.startsWith(`${folder}/`);
}

function listed(paths: readonly string[]): string {
  if (paths.length <= FEW_NAMES) return paths.join(', ');
  const rest = paths.length - FEW_NAMES;
  return `${paths.slice(0, FEW_NAMES).join(', ')} and ${rest} more (\`claw plan\` lists them)`;
}

/** So many names are told one by one. */
const FEW_NAMES = 5;

/** Returns what to name with `--allow`: each name, or the folders of many. */
export function shortNames(names: readonly string[]): readonly string[] {
  if (names.length <= FEW_NAMES) return names;
  const byFolder = Map.groupBy(names, (name) => folderOf(name));
  const short = [...byFolder].flatMap(([folder, inside]) =>
    inside.length === 1 || folder === '' ? inside : [`${folder}/`],
  );
  const isInside = (name: string) =>
    short.some((one) => one !== name && one.endsWith('/') && name.startsWith(one));
  return short.filter((name) => !isInside(name));
}

/** Returns the folder of a name, two steps deep at most; empty where it is in none. */
function folderOf(name: string): string {
  return dirname(name) === '.' ? '' : dirname(name).split('/').slice(0, 2).join('/');
}
