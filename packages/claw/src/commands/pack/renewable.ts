import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { ClawError } from '../../errors.ts';
import type { Installation } from '../../installed/installation.ts';
import { nearestNames } from '../../package/nearest.ts';
import type { SkillPackage } from '../../package/package.ts';
import { readPackage } from '../../package/read-package.ts';
import { bundledSkills, findPackage } from '../../package/sources/sources.ts';
import { type PackArguments, packCommand } from './edits/named-edits.ts';

/** A package to renew, and its folder. */
export type Renewable = {
  /** As its folder holds it now; as it is applied where there is no folder. */
  readonly skill: SkillPackage;
  /** As it is applied; null where it is not. */
  readonly applied: SkillPackage | null;
  /** The folder that it is written to, relative to the project's root. */
  readonly folder: string;
  /** The name of that folder in `state.yaml`. */
  readonly source: string;
  /** The source of the applied package, if that cannot be written to; else null. */
  readonly cameFrom: string | null;
};

/**
 * Finds the package that a renewal is about: the folder that the applied one came from, or `skills/<name>`.
 *
 * @throws ClawError SKILL_NOT_FOUND; USAGE where `skills/<name>` is another package than the applied one;
 * every refusal of a package
 */
export function findRenewable(
  { root, config, state }: Installation,
  installed: readonly SkillPackage[],
  request: PackArguments,
): Renewable {
  const { name } = request;
  const options = { protectedPaths: config.protected };
  const bundled = bundledSkills(root);
  const isApplied = ({ kind, manifest }: SkillPackage) =>
    kind === 'skill' && manifest.skill === name;
  const applied = installed.find(isApplied) ?? null;
  const own = { folder: `skills/${name}`, source: name };
  if (applied === null) {
    if (!bundled.includes(name)) throw notFound(request, bundled);
    const skill = readPackage(join(root, own.folder), options);
    return { ...own, skill, applied, cameFrom: null };
  }
  const source = state?.layers.find((layer) => layer.name === name)?.source ?? name;
  const folder = findFolder(root, source);
  if (folder !== null) {
    const skill = readPackage(join(root, folder), options);
    return { folder, source, skill, applied, cameFrom: null };
  }
  const isGone = source === name;
  if (bundled.includes(name)) {
    const other = readPackage(join(root, own.folder), options);
    if (other.digest !== applied.digest) throw isAnother(name, source);
  }
  return { ...own, skill: applied, applied, cameFrom: isGone ? null : source };
}

/** Returns the folder of a source, if it is there and inside the project. */
function findFolder(root: string, source: string): string | null {
  const place = source.startsWith('.') ? source : `skills/${source}`;
  if (!existsSync(join(root, place, 'manifest.yaml'))) return null;
  const found = findPackage(root, root, source);
  if (found.kind !== 'folder') return null;
  const folder = relative(root, found.folder).split(sep).join('/');
  return isAbsolute(folder) || folder.startsWith('..') ? null : folder;
}

function notFound(request: PackArguments, bundled: readonly string[]): ClawError {
  const { name, named } = request;
  const nearest = nearestNames(name, bundled, 3);
  const hint = nearest.length === 0 ? '' : ` The nearest: ${nearest.join(', ')}.`;
  const edits = named.length === 0 ? 'your edits' : 'these edits';
  const message =
    `There is no package skills/${name} to put edits into.${hint} ` +
    `To begin one of ${edits}: ${packCommand({ name, named })}.`;
  return new ClawError('SKILL_NOT_FOUND', message, { data: { nearest } });
}

function isAnother(name: string, source: string): ClawError {
  return new ClawError(
    'USAGE',
    `skills/${name} is another package than the applied ${name}, which came from ${source}. Move that ` +
      'folder away, then pack again.',
    { path: `skills/${name}` },
  );
}
