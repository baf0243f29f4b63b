import { ClawError } from '../errors.ts';
import { type CodebaseConfig, readConfig } from '../installed/config.ts';
import {
  type Installation,
  readInstallation,
  readInstalledPackages,
  readLayers,
} from '../installed/installation.ts';
import { listProjectFiles } from '../installed/project-files.ts';
import {
  isRequested,
  NO_REQUEST,
  type ReleaseRequest,
  readAhead,
  readReleaseVersion,
  type TreesReader,
  takeRelease,
} from '../installed/release.ts';
import { readState, type State, stateDigest } from '../installed/state-file.ts';
import type { EngineContext, PlanningContext } from '../operation/context.ts';
import { inferBases } from '../operation/inference.ts';
import { pinning } from '../operation/layers.ts';
import type { Operation } from '../operation/planned-operation.ts';
import { alreadyPresentNotes, planLayers } from '../operation/planned-tree/planned-tree.ts';
import { checkCoreVersion } from '../package/manifest/core-version.ts';
import { checkRelations, orderLayers } from '../package/order.ts';
import type { SkillPackage } from '../package/package.ts';
import { type OpenedPackage, openPackage } from '../package/sources/open.ts';
import { findPackage } from '../package/sources/sources.ts';
import { hasPending } from '../transaction/recover.js';
import { checkMapped } from './update/migrate.ts';

/** A package that the owner asks for, read and checked, with its source. */
export type Requested = OpenedPackage & {
  readonly source: string;
  /** The owner's words for finding it again, without secrets. */
  readonly wanted: string;
};

type RequestOptions = {
  readonly mode?: 'add' | 'replace';
  readonly request?: ReleaseRequest;
  readonly readTrees?: TreesReader;
  readonly listing?: Promise<readonly string[]>;
};

/**
 * Finds, reads and checks the packages of an `apply`: before any lock, before a byte is written.
 *
 * @param options `mode`: whether they join the applied ones, or replace those of the same names;
 *   `request`: the release that the first command takes; `readTrees` is set to read it meanwhile;
 *   `listing`: the project's files, where listing them was begun already
 * @throws ClawError SKILL_NOT_FOUND, ALREADY_INITIALISED, and every refusal of a package
 */
export async function requestPackages(
  context: EngineContext,
  wanted: readonly string[],
  { mode = 'add', request = NO_REQUEST, readTrees, listing }: RequestOptions = {},
): Promise<readonly Requested[]> {
  const { root, cwd } = context;
  const config = readConfig(root);
  const isFirst = request.release === null && stateDigest(root) === null;
  if (isFirst && readTrees !== undefined) readAhead(root, config, readTrees);
  const sources = wanted.map((name) => ({ name, found: findPackage(root, cwd, name) }));
  const existingPaths = await (listing ?? listProjectFiles(root, config));
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
  if (mode === 'add') await refuseUnfit({ root, config, request }, requested);
  return requested;
}

/**
 * Refuses packages that do not fit the installation. The check is repeated under the lock, where the state
 * cannot change.
 */
async function refuseUnfit(
  { root, config, request }: Place,
  requested: readonly Requested[],
): Promise<void> {
  // An unfinished command leaves no state to rely on; it is finished first.
  if (hasPending(root)) return;
  const state = readState(root);
  refuseOtherRelease(state, request);
  const coreVersion = state ? state.core.version : await readCoreVersion({ root, config, request });
  for (const one of requested) refuseOtherBytes(state, one.package);
  const fresh = requested.filter((one) => !isInstalled(state, one.package));
  for (const one of fresh) checkCoreVersion(one.package.manifest, coreVersion);
  const installed = state === null ? [] : readLayers({ root, state });
  const wanted = [...installed, ...packagesOf(fresh)];
  checkRelations(wanted);
  orderLayers(wanted);
}

type Place = {
  readonly root: string;
  readonly config: CodebaseConfig;
  readonly request: ReleaseRequest;
};

async function readCoreVersion({ root, config, request }: Place): Promise<string | null> {
  if (!isRequested(request)) return await readReleaseVersion(root, config);
  return (await takeRelease(root, config, request)).version;
}

function refuseOtherRelease(state: State | null, request: ReleaseRequest): void {
  if (state === null || !isRequested(request)) return;
  throw new ClawError(
    'ALREADY_INITIALISED',
    'The release is recorded already (.claw/state.yaml), so apply accepts no --release and no --core-version. ' +
      '`claw update` brings another release.',
  );
}

/**
 * Plans the same layers and some more.
 *
 * @param request the release that the first command takes
 * @param readTrees may have begun to read it
 */
export async function planApply(
  context: PlanningContext,
  requested: readonly Requested[],
  request: ReleaseRequest = NO_REQUEST,
  readTrees?: TreesReader,
): Promise<Operation<'apply'>> {
  const installation = await readInstallation(context.root, { request, readTrees });
  const { state } = installation;
  refuseOtherRelease(state, request);
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
  const adopted = fresh.length > 0 ? plan.adopted() : [];
  return {
    verb: 'apply',
    arguments: requested.map((one) => one.package.manifest.skill),
    retry: requested.map((one) => one.wanted),
    ...(isRequested(request) ? { options: request } : {}),
    installation,
    installed,
    plan,
    pin: pinning(state, sources, context.now()),
    warnings: [
      ...requested
        .filter((one) => isInstalled(state, one.package))
        .map((one) => `${one.package.manifest.skill} is applied already.`),
      ...inference.warnings,
      ...alreadyPresentNotes(adopted),
    ],
    // What is wrong with a file of the skill's own is its fault, also where the owner had that file already.
    ...(adopted.length > 0 ? { proof: comparedWithout(adopted, installation) } : {}),
    data: { inferredBases: inference.found },
  };
}

/** Compares with the tree in which these files are as the layers before have them. */
function comparedWithout(paths: readonly string[], { publishedFile }: Installation) {
  return { isSkipped: false, compared: new Map(paths.map((path) => [path, publishedFile(path)])) };
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
    `${known.name} ${known.version} is applied, and this package has other contents under the same version. ` +
      `A changed package needs a new version: claw pack ${known.name} --update gives it one.`,
    { data: { applied: known.digest, offered: digest } },
  );
}
