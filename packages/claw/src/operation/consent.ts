import { dirname, matchesGlob } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { conflictFile } from '../conflict.ts';
import { ClawError, shellWord } from '../errors.ts';
import { createConsent } from '../package/checks/protection.ts';
import type { EngineContext } from './context.ts';
import type { Operation } from './planned-operation.ts';

/**
 * Refuses changes that need the owner's explicit consent: to files that run by themselves or configure a tool, and to
 * ranges of the core that a skill replaces.
 *
 * @throws ClawError CONSENT_NEEDED with the names to allow in `data.paths`
 */
export function checkConsent(operation: Operation, allow: readonly string[]): void {
  const names = missingConsent(operation, allow);
  const [first] = names;
  if (first === undefined) return;
  const { overrides, paths } = consentsOf(operation, names);
  const reasons = [
    ...(paths.length > 0
      ? [`This would change ${listed(paths)}, which can run code or configure tools.`]
      : []),
    ...overrides.map(overrideNote),
  ];
  throw new ClawError(
    'CONSENT_NEEDED',
    `${reasons.join(' ')} Look at it, then add ${allowFlags(names)}.`,
    {
      path: first,
      data: { paths: names },
    },
  );
}

function consentsOf(operation: Operation, names: readonly string[]) {
  const overrides = newOverrides(operation).filter(({ consent }) => names.includes(consent));
  const paths = names.filter((name) => overrides.every(({ consent }) => consent !== name));
  return { overrides, paths };
}

function allowFlags(names: readonly string[]): string {
  return shortNames(names)
    .map((name) => `--allow ${shellWord(name)}`)
    .join(' ');
}

const Overrides = z
  .record(z.string(), z.object({ core: z.string(), range: z.string() }))
  .catch({})
  .default({});

/** A range of a skill that takes the place of the core's. */
type Override = {
  readonly package: string;
  readonly core: string;
  readonly range: string;
  /** The name that the owner passes to `--allow`. */
  readonly consent: string;
};

/** Lists the overrides that a planned command adds; the owner has agreed to existing ones. */
export function newOverrides({ plan, installation }: Operation): readonly Override[] {
  const before = overridesIn(installation.state?.structured);
  return Object.entries(overridesIn(plan.target.structured))
    .filter(([name, override]) => !isDeepStrictEqual(before[name], override))
    .map(([name, override]) => ({
      package: name,
      ...override,
      consent: `package.json#${name}`,
    }));
}

/** Describes one override to the owner. */
export function overrideNote({ package: name, core, range }: Override): string {
  return `${name}: ${range} takes the place of the core's ${core}, with which it has no version in common.`;
}

function overridesIn(structured: Readonly<Record<string, unknown>> | undefined) {
  const file = structured?.['package.json'];
  const isObject = typeof file === 'object' && file !== null && 'npm_overrides' in file;
  return Overrides.parse(isObject ? file.npm_overrides : {});
}

/** Consent that the owner gave when the command stopped to ask, and warnings about the rest. */
type EarlyConsent = { readonly allow: readonly string[]; readonly warnings: readonly string[] };

/**
 * Asks for consent when a command stops at conflicts, so that nobody resolves them for a change that they do not
 * want. Without a terminal, or after a no, a warning names the consent that `continue` will need.
 */
export async function consentBeforeConflicts(
  context: Pick<EngineContext, 'allow' | 'ask'>,
  operation: Operation,
): Promise<EarlyConsent> {
  const names = missingConsent(operation, context.allow);
  const { overrides, paths } = consentsOf(operation, names);
  const asked = context.ask === undefined ? [] : await askConsent(context, paths, 'This');
  const given = asked.filter(({ isAllowed: isGiven }) => isGiven).map((one) => one.allow);
  const allow = [...context.allow, ...given];
  const left = names.filter((name) => !given.some((one) => isAllowed(name, one)));
  if (left.length === 0) return { allow, warnings: [] };
  const rest = left.filter((name) => paths.includes(name));
  const reasons = [
    ...(rest.length > 0 ? [`changes ${listed(rest)}, which can run code or configure tools`] : []),
    ...(overrides.length > 0 ? ['replaces ranges of the core'] : []),
  ];
  const warning =
    `Once the conflicts are resolved, this ${reasons.join(', and ')}. Look at that first. If you want it, ` +
    `finish with: claw continue ${allowFlags(left)}`;
  return { allow, warnings: [warning] };
}

/** The files that need consent, grouped by folder if there are many, and whether the owner gave it. */
export type Consent = {
  readonly allow: string;
  readonly files: number;
  readonly isAllowed: boolean;
};

/**
 * Asks for consent to changes of files, by folder; on a terminal the owner says yes or no to each. If asking is
 * impossible, all of it counts as allowed, because the caller only prints a command.
 *
 * @param subject what makes the changes, at the beginning of a sentence
 */
export async function askConsent(
  { allow, ask }: Pick<EngineContext, 'allow' | 'ask'>,
  names: readonly string[],
  subject: string,
): Promise<readonly Consent[]> {
  const wanted: Consent[] = [];
  for (const name of shortNames(names)) {
    const inside = names.filter((one) => isAllowed(one, name));
    const isGiven = inside.every((one) => allow.some((given) => isAllowed(one, given)));
    const what =
      inside.length === 1 ? `changes ${name}` : `changes ${inside.length} files in ${name}`;
    const question = `${subject} ${what}, which can run code or configure tools. Allow that?`;
    const isAllowedNow = isGiven || ask === undefined || (await ask(question));
    wanted.push({ allow: name, files: inside.length, isAllowed: isAllowedNow });
  }
  return wanted;
}

/**
 * Returns the paths and overrides of a plan that the owner has yet to name with `--allow`. A file in conflict counts: it
 * may change by what resolves it.
 */
export function missingConsent(operation: Operation, allow: readonly string[]): readonly string[] {
  const consent = createConsent(operation.installation.config.private);
  const { changes, conflicts } = operation.plan;
  const changed = new Set([
    ...changes.map(({ path }) => path),
    ...conflicts.map((conflict) => conflictFile(conflict)),
  ]);
  const paths = [...changed].filter((path) => consent.protectedBy(path) !== null);
  return [...paths, ...newOverrides(operation).map(({ consent }) => consent)].filter(
    (path) => !allow.some((given) => isAllowed(path, given)),
  );
}

/** Tells whether the owner has allowed a path: by its name, its folder, or a pattern. */
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

/** Returns the names to use with `--allow`: each path, or the folder if it has many. */
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
