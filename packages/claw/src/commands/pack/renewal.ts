import { gt } from 'semver';
import type { z } from 'zod';
import type { Immutable } from '../../contract/immutable.ts';
import type { RenewalData } from '../../contract/verbs/pack.ts';
import {
  type Installation,
  readInstallation,
  readInstalledPackages,
} from '../../installed/installation.ts';
import type { EngineContext } from '../../operation/context.ts';
import { inferBases } from '../../operation/inference.ts';
import { digestPackage } from '../../package/digest-package.ts';
import type { SkillPackage } from '../../package/package.ts';
import { unwrittenIn } from '../../package/unwritten.ts';
import { findEdits } from '../customize.ts';
import { type ReadCode, undeclaredSettings } from './code-facts.ts';
import { findNamedEdits, refusePathAsName } from './edits/named-edits.ts';
import type { FoldedPackage, FoldRequest } from './folding.ts';
import { findRenewable, type Renewable } from './renewable.ts';
import { committedVersion, type Level, nextVersion } from './version.ts';

type Renewal = Immutable<z.output<typeof RenewalData>>;

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
  readonly versionFor: FoldRequest['version'];
  /** Warns of settings that a package's code reads and its manifest lacks. */
  readonly warningsFor: (made: SkillPackage) => readonly string[];
};

/**
 * Finds the package that is to be renewed, and the edits that may go into it.
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
): Promise<FoldRequest['version']> {
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

/** Reports a renewal, beside the data of all verbs. */
export function reportOf(made: FoldedPackage, { coreVersion }: Installation): Renewal {
  const { skill, version } = made.package.manifest;
  const toWrite = unwrittenIn(made.package.files).map((one) => ({
    ...one,
    path: `skills/${skill}/${one.path}`,
  }));
  return { skill, version, coreVersion, folded: made.folded, left: made.left, toWrite };
}
