import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { digestFile } from '../../digest.ts';
import { ClawError, shellWord } from '../../errors.ts';
import {
  BASE,
  COMPOSED,
  CUSTOM,
  inferredPlace,
  PACKAGES,
  packagePlaces,
  readComposed,
  readFolder,
  readPackageFiles,
} from '../../installed/claw-folder.ts';
import { treeReader } from '../../installed/disk.ts';
import { digestBase } from '../../installed/file-digests.ts';
import { readResolutions } from '../../installed/resolution-file.ts';
import type { LayerState, State } from '../../installed/state-file.ts';
import { digestPackage } from '../../package/digest-package.ts';
import { isForeign } from '../../package/package-from-files.ts';
import { isGitFolder, runGit } from '../../repository/git.ts';
import { bad, type Check, type CheckResult, good, type Subject } from './finding.ts';

/** The bytes kept in `.claw/`, against what `state.yaml` pins. */
export const kept: readonly Check[] = [
  { area: 'base', run: whereInstalled(checkBase) },
  { area: 'composed', run: whereInstalled(checkComposed) },
  { area: 'packages', run: whereInstalled(checkPackages) },
  { area: 'resolutions', run: checkResolutions },
];

type Installed = Subject & { readonly state: State };

function whereInstalled(look: (installed: Installed) => Promise<CheckResult>) {
  return async (subject: Subject): Promise<CheckResult> => {
    const { state } = subject;
    return state === null ? null : await look({ ...subject, state });
  };
}

async function checkBase({ root, state }: Installed): Promise<CheckResult> {
  if (digestBase(root, state.core) !== null) return good('the core as released, whole');
  const fault = existsSync(join(root, BASE)) ? 'is not the core that is pinned' : 'is missing';
  const advice = await fromGit(root, BASE, 'claw replay looks for the core in git’s history');
  return bad(`${BASE} ${fault}.`, advice);
}

async function checkComposed({ root, state }: Installed): Promise<CheckResult> {
  const damaged = [...state.files.keys()].filter((path) => !isComposedWhole(root, state, path));
  if (damaged.length === 0) return good(`${counted(state.files.size, 'composed file')}, whole`);
  const advice = await fromGit(root, COMPOSED, 'claw replay composes them again');
  return bad(`Not what was published, or missing in ${COMPOSED}: ${listed(damaged)}.`, advice);
}

function isComposedWhole(root: string, state: State, path: string): boolean {
  try {
    readComposed(treeReader(root), state, path);
    return true;
  } catch (error) {
    if (error instanceof ClawError) return false;
    throw error;
  }
}

async function checkPackages({ root, state }: Installed): Promise<CheckResult> {
  const damaged = state.layers.filter((layer) => !isPackageWhole(root, layer));
  if (damaged.length === 0) return good(`${counted(state.layers.length, 'package')}, whole`);
  const names = listed(damaged.map(({ name, version }) => `${name} ${version}`));
  const folder = placeOf(damaged[0]);
  const advice = await fromGit(
    root,
    folder,
    'claw replay takes them from their source, if that still has the pinned version',
  );
  return bad(`Not what is pinned, or missing in .claw: ${names}.`, advice);
}

function isPackageWhole(root: string, layer: LayerState): boolean {
  const isWhole = packagePlaces(layer).some((place) => {
    const files = readPackageFiles(root, place);
    return digestPackage(new Map([...files].filter(([path]) => !isForeign(path)))) === layer.digest;
  });
  if (!isWhole) return false;
  const bases = readFolder(root, inferredPlace(layer.name));
  return Object.entries(layer.inferredBases).every(([path, pinned]) => {
    const file = bases.get(path);
    return pinned === 'unknown' || (file !== undefined && digestFile(file) === pinned);
  });
}

/** Returns the folder of a layer's package: customisations are apart from the skills. */
function placeOf(layer: LayerState | undefined): string {
  return layer?.kind === 'customisation' ? CUSTOM : PACKAGES;
}

function checkResolutions({ root, state }: Subject): CheckResult {
  const resolutions = readResolutions(root, state);
  return good(`${resolutions.length} recorded`);
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

async function fromGit(root: string, folder: string, otherwise: string): Promise<string> {
  const isTracked =
    isGitFolder(root) && (await runGit(root, ['ls-files', '-z', '--', folder])).length > 0;
  return isTracked
    ? `git checkout HEAD -- ${shellWord(folder)}; or ${otherwise}.`
    : `${otherwise}.`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
