import { ClawError } from '../errors.ts';
import { checkCoreVersion } from '../skill/core-version.ts';
import { checkRelations, orderLayers } from '../skill/order.ts';
import type { SkillPackage } from '../skill/package.ts';
import { type OpenedPackage, openPackage } from '../skill/sources/open.ts';
import { findPackage } from '../skill/sources.ts';
import { type CodebaseConfig, readConfig } from '../state/config.ts';
import { listProjectFiles } from '../state/listing.ts';
import { readReleaseVersion } from '../state/release.ts';
import { readState, type State } from '../state/state-file.ts';
import { hasPending } from '../transaction/recover.js';
import { adoptionNotes } from './adopted.ts';
import type { EngineContext, PlanningContext } from './context.ts';
import { inferBases } from './inference.ts';
import { readInstallation, readInstalledPackages, readLayers } from './installation.ts';
import { pinning } from './layers.ts';
import { checkMapped } from './migrate.ts';
import type { Operation } from './operation.ts';
import { planLayers } from './target.ts';

/** A package that the owner asks for, read and checked, and where it came from. */
export type Requested = OpenedPackage & {
  readonly source: string;
  /** What finds it again: what the owner gave, without secrets. */
  readonly wanted: string;
};

/**
 * Finds, reads and checks the packages of an `apply`: before any lock, before a byte is written.
 *
 * @param mode whether they join the applied ones, or replace those of the same names
 * @throws ClawError SKILL_NOT_FOUND, and every refusal of a package
 */
export async function requestPackages(
  context: EngineContext,
  wanted: readonly string[],
  mode: 'add' | 'replace' = 'add',
): Promise<readonly Requested[]> {
  const { root, cwd } = context;
  const config = readConfig(root);
  const sources = wanted.map((name) => ({ name, found: findPackage(root, cwd, name) }));
  const existingPaths = await listProjectFiles(root, config);
  const options = { protectedPaths: config.protected, existingPaths, projectDir: root };
  const requested: Requested[] = [];
  for (const { name, found } of sources) {
    const opened = await openPackage(found, options, context);
    const isRemote = found.kind === 'git' && found.address.repository.kind === 'remote';
    requested.push({ ...opened, source: found.source, wanted: isRemote ? found.source : name });
  }
  const names = requested.map((one) => one.package.manifest.skill);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ClawError('USAGE', `${twice} is named twice.`);
  if (mode === 'add') await refuseUnfit(root, config, requested);
  return requested;
}

/** What does not fit the installation; asked again under the lock, where the state cannot change. */
async function refuseUnfit(
  root: string,
  config: CodebaseConfig,
  requested: readonly Requested[],
): Promise<void> {
  // An unfinished command leaves no state to rely on; it is finished first.
  if (hasPending(root)) return;
  const state = readState(root);
  const coreVersion = state ? state.core.version : await readReleaseVersion(root, config);
  for (const one of requested) refuseOtherBytes(state, one.package);
  const fresh = requested.filter((one) => !isInstalled(state, one.package));
  for (const one of fresh) checkCoreVersion(one.package.manifest, coreVersion);
  const installed = state === null ? [] : readLayers({ root, state });
  const wanted = [...installed, ...packagesOf(fresh)];
  checkRelations(wanted);
  orderLayers(wanted);
}

/** Plans the same layers and some more. */
export async function planApply(
  context: PlanningContext,
  requested: readonly Requested[],
): Promise<Operation> {
  const installation = await readInstallation(context.root);
  const { state } = installation;
  const installed = readInstalledPackages(installation);
  for (const one of requested) refuseOtherBytes(state, one.package);
  const fresh = requested.filter((one) => !isInstalled(state, one.package));
  for (const one of fresh) checkCoreVersion(one.package.manifest, installation.coreVersion);
  checkMapped(packagesOf(fresh), installation.pathMaps, installation.config);
  const inference = await inferBases(installation, packagesOf(fresh), installed);
  const wanted = [...installed, ...inference.packages];
  checkRelations(wanted);
  const sources = new Map(fresh.map((one) => [one.package.manifest.skill, one]));
  const plan = planLayers({ installation, installed, wanted, decisions: context.decisions });
  return {
    verb: 'apply',
    arguments: requested.map((one) => one.package.manifest.skill),
    retry: requested.map((one) => one.wanted),
    installation,
    installed,
    plan,
    pin: pinning(state, sources, context.now()),
    warnings: [
      ...requested
        .filter((one) => isInstalled(state, one.package))
        .map((one) => `${one.package.manifest.skill} is applied already.`),
      ...inference.warnings,
      ...adoptionNotes(fresh.length > 0 ? plan.adopted() : []),
    ],
    data: { inferredBases: inference.found },
  };
}

function packagesOf(requested: readonly Requested[]): readonly SkillPackage[] {
  return requested.map((one) => one.package);
}

function isInstalled(state: State | null, { manifest, digest }: SkillPackage): boolean {
  return (
    state?.layers.some((layer) => layer.name === manifest.skill && layer.digest === digest) ?? false
  );
}

function refuseOtherBytes(state: State | null, { manifest, digest }: SkillPackage): void {
  const known = state?.layers.find((layer) => layer.name === manifest.skill);
  if (!known || known.digest === digest) return;
  if (known.version !== manifest.version) {
    throw new ClawError(
      'ALREADY_APPLIED',
      `${known.name} ${known.version} is applied. To go to ${manifest.version}: claw upgrade ${known.name}.`,
      { data: { applied: known.version, offered: manifest.version } },
    );
  }
  throw new ClawError(
    'DIGEST_MISMATCH',
    `${known.name} ${known.version} is applied with other bytes than this package has. ` +
      'A changed package needs a new version.',
    { data: { applied: known.digest, offered: digest } },
  );
}
