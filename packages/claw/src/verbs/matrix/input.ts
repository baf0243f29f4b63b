import type { Tree, TreeFile } from '@patchclaw/merge';
import type { DataOf } from '../../contract/result.ts';
import { ClawError } from '../../errors.ts';
import { type Installation, movesOf, readInstallation } from '../../installed/installation.ts';
import { type Release, takeRelease } from '../../installed/release.ts';
import type { EngineContext } from '../../operation/context.ts';
import { checkCoreVersion } from '../../package/manifest/core-version.ts';
import type { SkillPackage } from '../../package/package.ts';
import { openPackage } from '../../package/sources/open.ts';
import { bundledSkills, findPackage, type PackageSource } from '../../package/sources/sources.ts';

/** The result of `claw matrix`. */
export type MatrixData = DataOf<'matrix'>;

/** One combination of skills, composed on the core, and proved if possible. */
export type MatrixCell = MatrixData['cells'][number];

export type CellOutcome = MatrixCell['outcome'];

/** A skill of the matrix, or why it cannot be one. */
export type Candidate =
  | { readonly kind: 'package'; readonly name: string; readonly package: SkillPackage }
  | { readonly kind: 'refused'; readonly name: string; readonly error: ClawError };

/** The input of a matrix, read once: the rest works in memory. */
export type MatrixInput = {
  /** The installation; its applied layers do not count. */
  readonly installation: Installation;
  readonly core: MatrixData['core'];
  /** The core, whole. */
  readonly files: Tree;
  /** The skills that were asked for, by name. */
  readonly candidates: readonly Candidate[];
  /** The candidates, and all that they depend on. */
  readonly known: ReadonlyMap<string, Candidate>;
  readonly warnings: readonly string[];
};

/**
 * Reads the core and the skills of a matrix.
 *
 * @param wanted names and sources; all of `skills/` where none is given
 * @param release a git ref or a folder to take for the core; null for the installed one, or the one
 *   that `init` would take
 * @throws ClawError SKILL_NOT_FOUND for a name that nothing has, RELEASE_NOT_FOUND, GRAPH_INVALID for
 *   two packages of one name
 */
export async function readMatrixInput(
  context: EngineContext,
  wanted: readonly string[],
  release: string | null,
): Promise<MatrixInput> {
  const { root, cwd } = context;
  const installation = await readBare(root, release);
  const names = wanted.length > 0 ? wanted : bundledSkills(root);
  const open = opener(context, installation);
  const found = names.map((name) => ({ name, source: findPackage(root, cwd, name) }));
  const candidates: Candidate[] = [];
  for (const { name, source } of found) candidates.push(await open(name, source));
  candidates.sort((one, other) => (one.name < other.name ? -1 : 1));
  refuseTwins(candidates);
  const { state, taken } = installation;
  return {
    installation,
    core: {
      version: installation.coreVersion,
      from: taken?.from ?? state?.core.from ?? 'disk',
      commit: taken?.commit ?? state?.core.commit ?? null,
    },
    files: wholeCore(installation),
    candidates,
    known: await withDependences(root, candidates, open),
    warnings: taken?.warnings ?? [],
  };
}

async function readBare(root: string, release: string | null): Promise<Installation> {
  const request = { release, coreVersion: null };
  const installation = await readInstallation(root, { request });
  if (release === null || installation.state === null) return installation;
  const taken: Release = await takeRelease(root, installation.config, request);
  const file = (path: string) => taken.files.get(path) ?? null;
  return {
    ...installation,
    state: null,
    taken,
    coreVersion: taken.version,
    releaseFile: file,
    publishedFile: file,
    releaseDigests: taken.digests,
    pathMaps: movesOf(file),
  };
}

function wholeCore({ taken, releaseDigests, releaseFile }: Installation): Tree {
  if (taken !== null) return taken.files;
  const files = new Map<string, TreeFile>();
  for (const path of releaseDigests.files.keys()) {
    const file = releaseFile(path);
    if (file !== null) files.set(path, file);
  }
  return files;
}

type Open = (name: string, source: PackageSource) => Promise<Candidate>;

function opener(context: EngineContext, installation: Installation): Open {
  const options = {
    protectedPaths: installation.config.protected,
    existingPaths: [...installation.releaseDigests.files.keys()],
  };
  return async (name, source) => {
    try {
      const opened = await openPackage(source, options, context);
      const { manifest } = opened.package;
      checkCoreVersion(manifest, installation.coreVersion);
      return { kind: 'package', name: manifest.skill, package: opened.package };
    } catch (error) {
      const isRefusal = error instanceof ClawError && error.code !== 'INTERRUPTED';
      if (!isRefusal || error.code === 'SOURCE_FAILED') throw error;
      return { kind: 'refused', name, error };
    }
  };
}

function refuseTwins(candidates: readonly Candidate[]): void {
  const twin = candidates.find(({ name }, at) => candidates[at + 1]?.name === name);
  if (twin === undefined) return;
  const message = `Two of these packages are named ${twin.name}. Rename one, or name the one you mean.`;
  throw new ClawError('GRAPH_INVALID', message, { data: { skill: twin.name } });
}

/** Adds dependencies that were not named, from `skills/`. */
async function withDependences(
  root: string,
  candidates: readonly Candidate[],
  open: Open,
): Promise<ReadonlyMap<string, Candidate>> {
  const bundled = bundledSkills(root);
  const known = new Map(candidates.map((one) => [one.name, one]));
  const waiting = [...candidates];
  for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
    if (one.kind === 'refused') continue;
    for (const { name } of one.package.manifest.depends) {
      if (known.has(name) || !bundled.includes(name)) continue;
      const found = await open(name, findPackage(root, root, name));
      known.set(found.name, found);
      waiting.push(found);
    }
  }
  return known;
}
