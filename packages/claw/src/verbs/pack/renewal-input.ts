import { existsSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import type { TreeFile } from '@patchclaw/merge';
import { gt } from 'semver';
import { ClawError } from '../../errors.ts';
import {
  type Installation,
  readInstallation,
  readInstalledPackages,
} from '../../installed/installation.ts';
import type { EngineContext } from '../../operation/context.ts';
import { inferBases } from '../../operation/inference.ts';
import { nearestNames } from '../../package/nearest-names.ts';
import { digestPackage, type SkillPackage } from '../../package/package.ts';
import { readPackage } from '../../package/read-package.ts';
import { bundledSkills, findPackage } from '../../package/sources/sources.ts';
import { findEdits } from '../customize.ts';
import { type ReadCode, undeclaredSettings } from './code-facts.ts';
import {
  findNamedEdits,
  type PackArguments,
  packCommand,
  refusePathAsName,
} from './named-edits.ts';
import { committedVersion, type Level, nextVersion } from './next-version.ts';

/** Returns the version of a renewed package by its files. */
export type VersionFor = (files: ReadonlyMap<string, TreeFile>) => string;

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

/** Options of renewing a package. */
export type RenewOptions = {
  /** Edits to take along beside those of the skill's own files: paths, relative to where the owner is. */
  readonly named: readonly string[];
  /** The part of the version to raise; null raises it where others may have the present one. */
  readonly level: Level | null;
  /** True if checks and tests are left out. */
  readonly isUnproved?: boolean;
  /** The version that others may have, where no git can tell. */
  readonly published?: string;
  readonly readCode?: ReadCode;
};

/** Everything that a renewal begins with. */
export type RenewalInput = {
  readonly installation: Installation;
  readonly installed: readonly SkillPackage[];
  readonly renewable: Renewable;
  readonly edited: readonly string[];
  readonly named: readonly string[];
  readonly versionFor: VersionFor;
  /** Warns of settings that a package's code reads and its manifest lacks. */
  readonly warningsFor: (made: SkillPackage) => readonly string[];
};

/**
 * Finds the package to renew, and the edits that may go into it.
 *
 * @throws ClawError SKILL_NOT_FOUND; USAGE for a named path without an edit
 */
export async function findRenewalInput(
  context: EngineContext,
  name: string,
  options: RenewOptions,
): Promise<RenewalInput> {
  const installation = await readInstallation(context.root);
  const installed = readInstalledPackages(installation);
  const edited = (await findEdits(installation, context.now)).map(({ path }) => path);
  refusePathAsName(context, { name, named: options.named, flags: ['--update'] }, edited);
  const found = findRenewable(installation, installed, { name, named: options.named });
  const rest = installed.filter((layer) => layer !== found.applied);
  const inferred = await inferBases(installation, [found.skill], rest);
  const renewable = { ...found, skill: inferred.packages[0] ?? found.skill };
  const named = findNamedEdits(context, installation, edited, options.named);
  const versionFor = await versioning(context.root, renewable, options);
  const known = { releaseFile: installation.releaseFile, others: rest };
  const warningsFor = (made: SkillPackage) => undeclaredSettings(made, known, options.readCode);
  return { installation, installed, renewable, edited, named, versionFor, warningsFor };
}

async function versioning(
  root: string,
  { skill, applied, folder, cameFrom }: Renewable,
  { level, published: known }: RenewOptions,
): Promise<VersionFor> {
  const committed = await committedVersion(root, skill.manifest.skill, folder);
  const here = (applied ?? skill).manifest.version;
  // From elsewhere, or where no git can tell: others may have what is applied here.
  const untold = known ?? here;
  const published = committed === undefined ? untold : cameFrom === null ? committed : here;
  const versions = [skill, ...(applied ? [applied] : [])].map(({ manifest }) => manifest.version);
  const [first = '1.0.0', second = first] = versions;
  const present = gt(second, first) ? second : first;
  return (files) => {
    const isSame = digestPackage(files) === (applied ?? skill).digest;
    return isSame && level === null ? present : nextVersion(present, published, level);
  };
}
