import { isSameFile, type TreeFile } from '@patchclaw/merge';
import {
  containedNotes,
  findContainedParts,
  gaveWayNotes,
  keptNotes,
} from '../../compose/contained-changes.ts';
import { type Conflict, conflictFile } from '../../conflict.ts';
import { digestBytes } from '../../digest.ts';
import { shellWord } from '../../errors.ts';
import type { CodebaseConfig } from '../../installed/config.ts';
import { treeReader } from '../../installed/disk.ts';
import {
  readInstallation,
  readInstalledPackages,
  requireState,
} from '../../installed/installation.ts';
import { MIGRATIONS_PATH, pathMapsOf, readMigrations } from '../../installed/migrations.ts';
import { isProjectPath } from '../../installed/project-files.ts';
import type { Release } from '../../installed/release.ts';
import type { State } from '../../installed/state-file.ts';
import type { PlanningContext } from '../../operation/context.ts';
import { pinning, requireApplied } from '../../operation/layers.ts';
import type { Operation } from '../../operation/planned-operation.ts';
import { type NewCore, planLayers } from '../../operation/planned-tree/planned-tree.ts';
import { coreState } from '../../operation/release-state.ts';
import { keptOptions, type UpdateOptions } from '../../operation/update-options.ts';
import { checkCoreVersion } from '../../package/manifest/core-version.ts';
import { customFiles, reanchored } from '../../package/manifest/customisation.ts';
import { mapPath, withDeclared } from '../../package/manifest/path-map.ts';
import { checkRelations } from '../../package/order.ts';
import type { SkillPackage } from '../../package/package.ts';
import {
  isGitFolder,
  listChanged,
  listChangedOddNames,
  resolveCommit,
} from '../../repository/git.ts';
import { type CommitList, listCommits } from '../../repository/git-log.ts';
import { CORE } from '../../structured/declaration.ts';
import { findOldCore, isAncestor, isOlder, newCore, type OldCore, unknownToGit } from './cores.ts';
import { checkMapped, dueMigrations, lostMigrations, migrateLayers } from './migrate.ts';
import {
  type Alike,
  declaredMoves,
  type FoundMove,
  findMoves,
  movesThatHold,
  nameCandidates,
} from './moved-files.ts';
import { nameMovedLines } from './moved-lines.ts';
import { findNewRelease, type NewRelease } from './new-release.ts';
import { planReleaseExtras } from './release-extras.ts';
import { type Ask, retireLayers } from './retire.ts';

/**
 * Plans the same layers and edits on another release. Its moves are honoured, its migrations applied
 * in order, its packages and recordings brought. A file that it moved without saying so is followed where only
 * one of its files can be the same.
 *
 * @param ask asks the owner about layers that the release contains; null where they cannot be asked
 * @param present an installation that is not on disk; null for the one that is
 * @param known the release, where it was read a moment ago
 * @throws ClawError RELEASE_NOT_FOUND; CORE_TOO_OLD when a layer is newer than that release
 */
export async function planUpdate(
  context: PlanningContext,
  wanted: string,
  given: UpdateOptions,
  ask: Ask | null = null,
  present: Present | null = null,
  known: NewRelease | null = null,
): Promise<Operation<'update'>> {
  const installation = present?.installation ?? (await readInstallation(context.root));
  const state = requireState(installation);
  const coming = known ?? (await findNewRelease(context, installation, wanted));
  const { release, config, notes } = coming;
  const installed = present?.installed ?? readInstalledPackages(installation);
  const old = await findOldCore(context, {
    installation,
    state,
    installed,
    release,
    wanted,
    named: given.release,
  });

  const newFile = (path: string): TreeFile | null => release.files.get(path) ?? null;
  const migrations = readMigrations(newFile(MIGRATIONS_PATH));
  const declared = declaredMoves(given.moved, { old, release });
  const moves = withDeclared(movesThatHold(state.core.moves, release), [declared]);
  const pathMaps = withDeclared(pathMapsOf(migrations), moves);
  const due = dueMigrations(migrations, old, release.version);
  const migrated = migrateLayers(installed, due, { extras: release.extras, config });
  const extras = planReleaseExtras(context.root, old, release);
  const resolutions = extras.resolutions(installation.resolutions);
  for (const name of given.keep) requireApplied(state, name);
  const {
    layers,
    retired,
    contained,
    options,
    released,
    kept,
    notes: retirements,
  } = await retireLayers(
    migrated.layers,
    {
      root: context.root,
      state,
      releaseFile: (path) => release.files.get(path) ?? null,
      pathMaps,
      resolutions,
      since: old.commit,
      commit: release.commit,
    },
    { options: given, ask },
  );
  for (const { manifest } of layers) {
    checkCoreVersion(manifest, release.version, `claw remove ${manifest.skill} first.`);
  }
  checkRelations(layers);
  checkMapped(layers, pathMaps, config, installation.config);

  const stretch = { from: old.commit, to: release.commit };
  const notBrought = [
    ...(await privateNotes(context.root, config, stretch)),
    ...(await oddNameNotes(context.root, stretch)),
  ];
  const core = newCore(old, {
    release,
    pathMaps,
    oldMaps: withDeclared(pathMapsOf(old.migrations), state.core.moves),
    isCore: (path) => isProjectPath(path, config),
    touched: [...state.files.keys()],
  });
  // A layer that is contained as a whole is told as such.
  const partly = layers.filter(
    ({ manifest }) => !contained.some(({ name }) => name === manifest.skill),
  );
  const parts = findContainedParts(partly, core);
  const lost = isOlder(release.version, old.version)
    ? []
    : lostMigrations(old.migrations, migrations);
  const planned = (wanted: readonly SkillPackage[]) =>
    planLayers({
      installation,
      installed,
      wanted,
      published: old.published,
      decisions: context.decisions,
      resolutions,
      released,
      core,
    });
  const first = planned(layers);
  const { keep } = options;
  // Back from there, the lines in question are the owner's alone again.
  const isOnward = await isAncestor(context.root, old.commit, release.commit);
  const overtaken = isOnward
    ? leaveOvertaken({ layers, conflicts: first.conflicts, old, keep })
    : null;
  const plan = overtaken === null ? first : planned(overtaken.layers);
  const cores = {
    before: new Set(old.paths),
    after: release.files,
    taken: new Set(core.moves.values()),
  };
  const found = findMoves({
    ...cores,
    conflicts: plan.conflicts,
    oldFile: old.file,
    disk: treeReader(context.root),
    isKnown: (path) =>
      core.moves.has(path) || options.moved.some((one) => one.startsWith(`${path}=`)),
  });
  const certain = found.flatMap(({ from, to }) => (to === null ? [] : [`${from}=${to.path}`]));
  if (certain.length > 0) {
    const moved = [...options.moved, ...certain];
    const followed = await planUpdate(context, wanted, { ...options, moved }, ask, present, coming);
    return { ...followed, warnings: [...followed.warnings, ...found.flatMap(followedNotes)] };
  }
  const conflicts = nameMovedLines(nameCandidates(plan.conflicts, cores), CORE, {
    after: release.files,
    oldFile: old.file,
  });
  const sources = new Map(migrated.applied.map((name) => [name, { source: name, commit: null }]));
  return {
    verb: 'update',
    arguments: [wanted],
    options: keptOptions(options),
    installation,
    installed,
    plan: { ...plan, conflicts },
    pin: pinning(state, sources, context.now()),
    warnings: [
      ...old.warnings,
      ...notes,
      ...lost,
      ...migrated.notes,
      ...retirements,
      ...containedNotes(parts),
      ...gaveWayNotes(plan.resolvedConflicts),
      ...keptNotes(conflicts, kept),
      ...(overtaken?.notes ?? []),
      ...found.flatMap(deletedNotes),
      ...extras.notes,
      ...notBrought,
    ],
    core: { release, state: { ...knownCore(state, release), moves } },
    files: extras.changes,
    resolutions,
    data: {
      from: { version: old.version, commit: old.commit },
      to: { version: release.version, commit: release.commit },
      gitMerge: await unknownToGit(context.root, release.commit),
      commits: await commitsBrought(context.root, old.commit, release.commit),
      files: core.changed.length,
      migrations: due.map(({ since, description, skill, retire, paths }) => ({
        since,
        description,
        skill,
        retire,
        pathMap: paths,
      })),
      retired: [...migrated.retired, ...retired],
      contained,
      containedParts: parts,
      affected: affectedLayers(layers, core),
      broughtSkills: extras.brought,
      keptSkills: extras.kept,
    },
  };
}

/** An installation, and the layers that are installed in it. */
export type Present = Pick<Operation, 'installation' | 'installed'>;

/**
 * Reads a tree in which nothing is installed yet, as if `init` had recorded its core.
 *
 * @param release what the owner says it is; null where they say nothing
 * @returns null for a tree with a recorded core
 */
export async function readUnrecorded(
  root: string,
  release: string | null,
): Promise<Present | null> {
  const request = { release, coreVersion: null };
  const installation = await readInstallation(root, { request });
  const { state, taken } = installation;
  if (state !== null || taken === null) return null;
  const first: State = {
    core: coreState(taken, taken.from === 'commit'),
    layers: [],
    resolutions: new Map(),
    files: new Map(),
    structured: {},
    digest: digestBytes(''),
  };
  return { installation: { ...installation, state: first }, installed: [] };
}

/** Lists the commits between two releases; null where git does not know both, or has nothing to list. */
async function commitsBrought(
  root: string,
  from: string | null,
  to: string | null,
): Promise<CommitList | null> {
  const isKnown =
    from !== null && to !== null && isGitFolder(root) && (await resolveCommit(root, from)) !== null;
  if (!isKnown) return null;
  const commits = await listCommits(root, from, to);
  return commits.count === 0 ? null : commits;
}

/** Files that are told one by one. */
const FEW_FILES = 10;

/** Tells of files in private folders that the release has changed: they stay as they are here. */
async function privateNotes(
  root: string,
  { private: folders }: CodebaseConfig,
  { from, to }: { readonly from: string | null; readonly to: string | null },
): Promise<readonly string[]> {
  if (from === null || to === null || folders.length === 0) return [];
  const changed = await listChanged(root, from, to, folders);
  if (changed.length === 0) return [];
  const rest = changed.length - FEW_FILES;
  const names = `${changed.slice(0, FEW_FILES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  const what = changed.length === 1 ? '1 file' : `${changed.length} files`;
  return [
    `The release changes ${what} in private folders, which stay as they are here: ${names}. \`git checkout ${to.slice(0, 9)} -- <file>\` takes the release's.`,
  ];
}

/** Tells of changed files whose names are not UTF-8: claw would have to write another name. */
async function oddNameNotes(
  root: string,
  { from, to }: { readonly from: string | null; readonly to: string | null },
): Promise<readonly string[]> {
  if (from === null || to === null || from === to) return [];
  const names = await listChangedOddNames(root, from, to);
  if (names.length === 0) return [];
  const rest = names.length - FEW_FILES;
  const shown = `${names.slice(0, FEW_FILES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return [
    `The release changes files whose names are not UTF-8. They stay as they are here, bring them by git: ${shown}.`,
  ];
}

function followedNotes({ from, to, isDeleted }: FoundMove): readonly string[] {
  if (to === null) return [];
  const follows = isDeleted ? 'it is deleted here, and so it is there' : 'what changes it follows';
  return [
    `The release seems to have moved ${from} to ${named(to)}, and no other file fits): ${follows}. --moved ${shellWord(`${from}=`)} says that it did not.`,
  ];
}

/** Tells the owner about a deletion that follows nowhere: nothing else would ask about it. */
function deletedNotes({ from, alike, isDeleted }: FoundMove): readonly string[] {
  if (!isDeleted) return [];
  const places = alike
    .slice(0, 3)
    .map((one) => `${named(one)})`)
    .join(' or ');
  return [
    `${from} is deleted here, and the release may have moved it to ${places}. --moved ${shellWord(`${from}=new/path`)} deletes it there.`,
  ];
}

function named({ path, share }: Alike): string {
  return `${path} (${Math.round(share * 100)} % alike`;
}

/** Keeps the known origin of a core that is the very same in every respect. */
function knownCore({ core }: State, release: Release): State['core'] {
  const next = { ...coreState(release, false), isUpdated: true };
  const isGuess = core.assumed && core.from !== 'tag';
  const isKnown =
    next.digest === core.digest &&
    next.version === core.version &&
    (next.commit ?? core.commit) === core.commit;
  return isKnown && !isGuess ? { ...core, skills: next.skills } : next;
}

/** Returns the layers that work on files that the release changes, with those files. */
function affectedLayers(
  layers: readonly SkillPackage[],
  { changed, pathMaps }: NewCore,
): Readonly<Record<string, readonly string[]>> {
  const others = new Set(changed);
  const affected = layers.map(({ manifest }) => {
    const { adds, modifies, fileOps, coreVersion, skill } = manifest;
    const named = [
      ...adds,
      ...modifies,
      ...fileOps.map((op) => (op.type === 'delete' ? op.path : op.from)),
    ];
    const paths = new Set(named.flatMap((path) => [path, mapPath(path, coreVersion, pathMaps)]));
    return [skill, [...paths].filter((path) => others.has(path)).sort()] as const;
  });
  return Object.fromEntries(affected.filter(([, paths]) => paths.length > 0));
}

type PlannedUpdate = {
  readonly layers: readonly SkillPackage[];
  readonly conflicts: readonly Conflict[];
  /** The core on which the layers were composed before. */
  readonly old: Pick<OldCore, 'file' | 'published'>;
  /** Layers that stay with all they do, by the owner's word. */
  readonly keep: readonly string[];
};

/** The layers without what was overtaken, and what the owner is told of it. */
type WithoutOvertaken = {
  readonly layers: readonly SkillPackage[];
  readonly notes: readonly string[];
};

/**
 * Takes files out of customisations that the old core had already as the customisation makes them, where the new release
 * has gone on from there. The record is from before the old core: merged again, it would ask about lines that the owner
 * and the release have had alike since. Edits that nobody recorded are not asked about either, nor does git ask.
 *
 * @returns null where there is none
 */
function leaveOvertaken({ layers, conflicts, old, keep }: PlannedUpdate): WithoutOvertaken | null {
  const paths = new Set(conflicts.map((conflict) => conflictFile(conflict)));
  const taken = new Map<string, string[]>();
  const next = layers.flatMap((layer) => {
    const { skill } = layer.manifest;
    if (layer.kind !== 'customisation' || keep.includes(skill)) return [layer];
    let current: SkillPackage | null = layer;
    for (const file of customFiles(layer)) {
      const before = old.file(file.path);
      const isOvertaken =
        paths.has(file.path) &&
        before !== null &&
        isSameFile(before, file.after) &&
        isSameFile(before, old.published(file.path));
      if (!isOvertaken || current === null) continue;
      current = reanchored(current, { path: file.path, before, after: before });
      taken.set(skill, [...(taken.get(skill) ?? []), file.path]);
    }
    return current === null ? [] : [current];
  });
  if (taken.size === 0) return null;
  const notes = [...taken].map(
    ([skill, names]) =>
      `The release you had was as ${skill} makes it, and this one has gone on from there in ${names.join(', ')}: its text stays, and ${skill} no longer holds ${names.length === 1 ? 'that file' : 'those files'}. --keep ${skill} asks instead.`,
  );
  return { layers: next, notes };
}
