import { isSameFile, type TreeFile } from '@patchclaw/merge';
import { conflictFile } from '../../conflict.ts';
import type { DataOf } from '../../contract/result.ts';
import { ClawError, shellWord } from '../../errors.ts';
import { CUSTOM } from '../../installed/claw-folder.ts';
import { readTreeFile } from '../../installed/disk.ts';
import {
  type Installation,
  movesOf,
  readInstallation,
  readInstalledPackages,
} from '../../installed/installation.ts';
import { type Release, readCommitVersion, takeRelease } from '../../installed/release.ts';
import type { State } from '../../installed/state-file.ts';
import { askConsent, missingConsent } from '../../operation/consent.ts';
import type { EngineContext } from '../../operation/context.ts';
import type { Edit } from '../../operation/edits.ts';
import { pinning } from '../../operation/layers.ts';
import type { Operation } from '../../operation/planned-operation.ts';
import { planLayers, type TargetPlan } from '../../operation/planned-tree/planned-tree.ts';
import { coreState } from '../../operation/release-state.ts';
import { PLAIN_UPDATE } from '../../operation/update-options.ts';
import { showPath } from '../../package/checks/paths.ts';
import { treePathFault } from '../../package/checks/protection.ts';
import { type CustomFile, makeCustomisation } from '../../package/manifest/customisation.ts';
import type { SkillPackage } from '../../package/package.ts';
import {
  listChanged,
  readBlobs,
  runGit,
  splitListing,
  withoutLocalFilters,
} from '../../repository/git.ts';
import {
  listCommits,
  listEntries,
  type OwnCommit,
  readMergedBranches,
  readOwnCommits,
} from '../../repository/git-log.ts';
import { customName, findEdits } from '../customize.ts';
import { mergeBase } from '../update/cores.ts';
import { planUpdate } from '../update/update.ts';
import { partIntoTopics, type Topic, type TopicWay, type Version } from './topics.ts';
import type { Upstream } from './upstream.ts';

type Data = DataOf<'adopt'>;

/**
 * Plans setting up a fork. The release is the commit at which its history and upstream's part; everything that the
 * owner has changed since is recorded as customisations. The tree stays as it is. A project that already has layers,
 * or came by `update`, also stays as it is.
 *
 * @throws ClawError RELEASE_NOT_FOUND where the histories have no commit in common
 */
export async function planAdopt(
  context: EngineContext,
  upstream: Upstream,
  way: TopicWay,
): Promise<Operation<'adopt'>> {
  const { root } = context;
  const base = await partingCommit(root, upstream);
  const { installation, release } = await adoptedInstallation(root, base);
  const { state } = installation;
  const edits = await findEdits(installation, context.now);
  const commits = await readOwnCommits(root, upstream.commit);
  const isAdopted = isSetUp(state, base) && (edits.length === 0 || hasLayers(state));
  const installed = isAdopted ? readInstalledPackages(installation) : [];
  const recorded: Recorded = isAdopted
    ? { layers: installed, made: [], unrecorded: [], plan: null }
    : await recordEdits(installation, { edits, commits, upstream, base, way });
  const present = asInstalled(installation, release);
  const next = await nextUpdate(context, upstream, { installation: present, installed, edits });
  const made = new Set(recorded.made.map(({ manifest }) => manifest.skill));
  const sources = new Map(
    [...made].map((name) => [name, { source: `${CUSTOM}/${name}`, commit: null }]),
  );
  return {
    verb: 'adopt',
    arguments: [upstream.ref],
    options: { release: base },
    installation,
    installed,
    plan: recorded.plan ?? planLayers({ installation, installed, wanted: installed }),
    pin: pinning(state, sources, context.now()),
    warnings: [],
    ...(release === null ? {} : { core: { release, state: coreState(release, false) } }),
    isIdle: isAdopted,
    // The tree is the owner's, as it was.
    proof: { isSkipped: true, compared: new Map() },
    data: {
      isAdopted,
      upstream: {
        ref: upstream.ref,
        commit: upstream.commit,
        version: await readCommitVersion(root, upstream.commit),
        remote: upstream.remote?.name ?? null,
        isNewRemote: upstream.remote?.isNew ?? false,
      },
      base: { commit: base, version: installation.coreVersion, date: await dateOf(root, base) },
      commits: await listCommits(root, upstream.commit, 'HEAD'),
      edits: [...edits],
      layers: installed.length,
      customisations: recorded.made.map((layer) => ({
        name: layer.manifest.skill,
        description: layer.manifest.description,
        files: filesOf(layer),
      })),
      unrecorded: recorded.unrecorded,
      privateFiles: await privateFiles(root, installation, upstream.commit),
      next,
      command: commandOf(upstream.ref, next),
    },
  };
}

async function partingCommit(root: string, { commit, ref }: Upstream): Promise<string> {
  const found = await mergeBase(root, 'HEAD', commit);
  if (found !== null) return found;
  throw new ClawError(
    'RELEASE_NOT_FOUND',
    `This project and ${ref} have no commit in common, so git does not tell what you began from. Name that release: ` +
      `claw init --release <ref or folder>, then claw update ${shellWord(ref)}.`,
    { path: ref },
  );
}

async function dateOf(root: string, commit: string): Promise<string> {
  return (await runGit(root, ['log', '-1', '--format=%cs', commit])).toString('utf8').trim();
}

function hasLayers(state: State | null): boolean {
  return state !== null && (state.layers.length > 0 || state.core.isUpdated);
}

/** Tells whether the release is recorded: by this verb, or by an update. */
function isSetUp(state: State | null, base: string): boolean {
  return state !== null && (hasLayers(state) || state.core.commit === base);
}

/**
 * Returns the installation on the release that it was made from. Where `init` recorded another one and nothing was
 * built on that, the release takes its place, and is returned as well.
 */
async function adoptedInstallation(
  root: string,
  base: string,
): Promise<{ readonly installation: Installation; readonly release: Release | null }> {
  const request = { release: base, coreVersion: null };
  const installation = await readInstallation(root, { request });
  const { state, config } = installation;
  if (state === null || isSetUp(state, base)) return { installation, release: null };
  const release = await takeRelease(root, config, request);
  const file = (path: string) => release.files.get(path) ?? null;
  const moved: Installation = {
    ...installation,
    coreVersion: release.version,
    releaseFile: file,
    publishedFile: file,
    releaseDigests: release.digests,
    pathMaps: movesOf(file),
  };
  return { installation: moved, release };
}

type Work = {
  readonly edits: readonly Edit[];
  readonly commits: readonly OwnCommit[];
  readonly upstream: Upstream;
  readonly base: string;
  readonly way: TopicWay;
};

type Unrecorded = Data['unrecorded'];

type Recorded = {
  readonly layers: readonly SkillPackage[];
  readonly made: readonly SkillPackage[];
  readonly unrecorded: Unrecorded;
  readonly plan: TargetPlan | null;
};

/** Rounds in which files are left out that no customisation can hold. */
const MOST_ROUNDS = 60;

/**
 * Makes customisations of edits so that all of them on the release are the tree as it is. A file that does not come out
 * so is recorded as a whole, by its last topic; where that does not help either, it stays an edit.
 */
async function recordEdits(installation: Installation, work: Work): Promise<Recorded> {
  const { root } = installation;
  const { commits, upstream, base, way } = work;
  const unrecorded = new Map<string, string>();
  for (const { path } of work.edits) {
    const fault = treePathFault(path);
    if (fault !== null) unrecorded.set(path, fault);
  }
  const isParted = way === 'commit' || way === 'branch';
  const released = isParted ? await listEntries(root, base) : new Map<string, string>();
  const committed = isParted ? await listEntries(root, 'HEAD') : new Map<string, string>();
  const branchOf = way === 'branch' ? await readMergedBranches(root, upstream.commit) : new Map();
  const whole = new Set(isParted ? await changedSinceCommit(root) : []);
  const since = installation.coreVersion ?? base.slice(0, 9);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const topics = partIntoTopics(way, {
      edits: work.edits.filter(({ path }) => !unrecorded.has(path)),
      commits,
      branchOf,
      released: (path) => released.get(path) ?? null,
      committed: (path) => committed.get(path) ?? null,
      isCommitted: (path) => !whole.has(path),
      since,
    });
    const made = await makeLayers(installation, topics);
    if (made.kind === 'refused') {
      for (const path of made.paths) unrecorded.set(path, made.why);
      continue;
    }
    const plan = planLayers({ installation, installed: [], wanted: made.layers });
    const others = [
      ...plan.changes.map(({ path }) => path),
      ...plan.conflicts.map((conflict) => conflictFile(conflict)),
    ];
    if (others.length === 0) {
      const list = [...unrecorded].map(([path, why]) => ({ path: showPath(path), why }));
      return { layers: plan.layers, made: made.layers, unrecorded: list, plan };
    }
    for (const path of others) {
      if (whole.has(path) || !isParted) unrecorded.set(path, 'as a layer it would be another file');
      whole.add(path);
    }
  }
  const why = 'too many files cannot be recorded';
  const list = work.edits.map(({ path }) => ({ path: showPath(path), why }));
  return { layers: [], made: [], unrecorded: list, plan: null };
}

/** Returns the files of HEAD that are otherwise on disk. */
async function changedSinceCommit(root: string): Promise<readonly string[]> {
  const flags = ['--name-only', '--no-renames', '--no-ext-diff', '--ignore-submodules', '-z'];
  // Files are read through git's filters.
  const filters = await withoutLocalFilters(root);
  return splitListing(await runGit(root, [...filters, '--work-tree=.', 'diff', ...flags, 'HEAD']));
}

type AdoptionOutcome =
  | { readonly kind: 'made'; readonly layers: readonly SkillPackage[] }
  | { readonly kind: 'refused'; readonly paths: readonly string[]; readonly why: string };

async function makeLayers(
  installation: Installation,
  topics: readonly Topic[],
): Promise<AdoptionOutcome> {
  const read = await versionReader(installation, topics);
  const layers: SkillPackage[] = [];
  for (const { title, description, files } of topics) {
    const versions = files
      .map(({ path, before, after }) => ({
        path,
        before: read(path, before),
        after: read(path, after),
      }))
      .filter(({ before, after }) => !isSameFile(before, after));
    for (const part of partsOf(versions)) {
      const head = {
        name: customName(title, layers),
        version: '1.0.0',
        description,
        coreVersion: installation.coreVersion,
      };
      try {
        layers.push(makeCustomisation(head, part));
      } catch (error) {
        if (!(error instanceof ClawError)) throw error;
        return { kind: 'refused', paths: refusedPaths(error, part), why: reasonOf(error) };
      }
    }
  }
  return { kind: 'made', layers };
}

/** Returns the file that a refusal names; all of them where it names none. */
function refusedPaths({ path }: ClawError, files: readonly CustomFile[]): readonly string[] {
  const named = path?.replace(/^(add|modify|base)\//, '');
  const found = files.filter((file) => file.path === named || showPath(file.path) === named);
  return (found.length > 0 ? found : files).map((file) => file.path);
}

function reasonOf({ code, message }: ClawError): string {
  return code === 'MARKERS_PRESENT'
    ? 'it holds conflict markers'
    : (message.split(/(?<=[.;]) /)[0] ?? message).replace(/\.$/, '');
}

async function versionReader(installation: Installation, topics: readonly Topic[]) {
  const { root, releaseFile } = installation;
  const wanted = topics.flatMap(({ files }) =>
    files.flatMap(({ path, before, after }) =>
      [before, after].flatMap((version) =>
        version.at === 'git' && version.entry !== null ? [{ path, entry: version.entry }] : [],
      ),
    ),
  );
  const blobs = await readBlobs(
    root,
    wanted.map(({ path, entry }) => ({ path, oid: entry.slice(entry.indexOf(' ') + 1) })),
  );
  const found = new Map<string, TreeFile>();
  for (const [at, { path, entry }] of wanted.entries()) {
    const bytes = blobs[at];
    if (bytes) found.set(`${entry} ${path}`, { bytes, isExecutable: entry.startsWith('100755') });
  }
  return (path: string, version: Version): TreeFile | null => {
    if (version.at === 'release') return releaseFile(path);
    if (version.at === 'disk') return readTreeFile(root, path);
    return version.entry === null ? null : (found.get(`${version.entry} ${path}`) ?? null);
  };
}

/** Limits of one package. They are lower than those of manifests and files, so that both fit. */
const PART = { files: 900, pathBytes: 40_000, bytes: 48 * 1024 * 1024 };

function partsOf(files: readonly CustomFile[]): readonly (readonly CustomFile[])[] {
  const parts: CustomFile[][] = [];
  let size = { files: Infinity, pathBytes: 0, bytes: 0 };
  for (const file of files) {
    const bytes = (file.before?.bytes.length ?? 0) + (file.after?.bytes.length ?? 0);
    const next = {
      files: size.files + 1,
      pathBytes: size.pathBytes + Buffer.byteLength(file.path) + 30,
      bytes: size.bytes + bytes,
    };
    const isFull =
      next.files > PART.files || next.pathBytes > PART.pathBytes || next.bytes > PART.bytes;
    if (isFull) parts.push([]);
    size = isFull ? { files: 1, pathBytes: Buffer.byteLength(file.path) + 30, bytes } : next;
    parts.at(-1)?.push(file);
  }
  return parts;
}

function filesOf({ manifest: { adds, modifies, fileOps } }: SkillPackage): readonly string[] {
  const deleted = fileOps.flatMap((op) => (op.type === 'delete' ? [op.path] : []));
  return [...adds, ...modifies, ...deleted].sort();
}

/** Returns the files of a release that are in folders which are the owner's own here. */
async function privateFiles(
  root: string,
  { config: { private: folders } }: Installation,
  commit: string,
): Promise<readonly string[]> {
  if (folders.length === 0) return [];
  const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit, '--'];
  return splitListing(await runGit(root, [...args, ...folders.map((folder) => `${folder}/`)]));
}

type Ground = Pick<Operation, 'installation' | 'installed'> & { readonly edits: readonly Edit[] };

/** Plans the update that the owner will want, and asks for what it needs to be allowed. */
async function nextUpdate(
  context: EngineContext,
  upstream: Upstream,
  { installation, installed, edits }: Ground,
): Promise<Data['next']> {
  const { root } = context;
  const commits = await listCommits(root, 'HEAD', upstream.commit);
  if (commits.count === 0) return null;
  const none = { commits, files: 0, changedByBoth: [], conflicts: [], consent: [] };
  try {
    const quiet = { ...context, onProgress: () => {} };
    const planned = await planUpdate(quiet, upstream.commit, PLAIN_UPDATE, null, {
      installation,
      installed,
    });
    const { from, files } = planned.data;
    const since = from.commit ?? upstream.commit;
    const changed = new Set(await listChanged(root, since, upstream.commit, []));
    const own = new Set([...edits.map(({ path }) => path), ...installed.flatMap(filesOf)]);
    return {
      commits,
      files,
      changedByBoth: [...own].filter((path) => changed.has(path)).sort(),
      conflicts: planned.plan.conflicts.map(({ path, hunks }) => ({
        path,
        places: Math.max(1, hunks.filter(({ kind }) => kind === 'conflict').length),
      })),
      consent: [...(await askConsent(context, missingConsent(planned, []), 'The next update'))],
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof ClawError)) throw error;
    return { ...none, problem: error.message };
  }
}

/** Returns an installation as it will be once the release is recorded, for planning on it. */
function asInstalled(installation: Installation, release: Release | null): Installation {
  const { state } = installation;
  const brought = release ?? (state === null ? installation.taken : null);
  if (brought === null) return installation;
  const core = coreState(brought, false);
  const empty = { layers: [], resolutions: new Map(), files: new Map(), structured: {} };
  const known = state ?? { ...empty, digest: brought.digests.digest };
  return { ...installation, state: { ...known, core }, taken: null };
}

/** Returns the command that brings upstream's releases. */
function commandOf(ref: string, next: Data['next']): string {
  const allowed = (next?.consent ?? []).filter(({ isAllowed: isGiven }) => isGiven);
  const flags = allowed.map((one) => `--allow ${shellWord(one.allow)}`);
  return ['claw update', shellWord(ref), ...flags].join(' ');
}
