import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ClawError, shellWord } from '../../errors.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import type { EngineContext } from '../../operation/context.ts';
import { lstat } from '../../package/regular-file.ts';
import { openGit, sourceFailure } from '../../package/sources/git.ts';
import { type GitRepository, parseGitAddress } from '../../package/sources/git-address.ts';
import { isGitFolder, refuseAmbiguousRef, resolveCommit, runGit } from '../../repository/git.ts';

/** The upstream of a fork, as the owner named it. */
export type Upstream = {
  readonly commit: string;
  /** The name that `claw update` takes: a ref of this repository. */
  readonly ref: string;
  /** The remote that was fetched from; null where the owner named a ref. */
  readonly remote: {
    readonly name: string;
    readonly shown: string;
    readonly isNew: boolean;
  } | null;
  /** Writes what was fetched down: the remote, its branches and its tags. */
  readonly keep: () => Promise<void>;
};

/**
 * Finds an upstream: a remote by its name, a ref that git knows here, or an address, from which its history is fetched.
 * Nothing of the repository changes yet: git has more objects, which no ref names.
 *
 * The fetching git reads none of the project's own settings, since those could start programs: the folder may have come
 * from a stranger, and only the address is the owner's word.
 *
 * @throws ClawError USAGE, RELEASE_NOT_FOUND, SOURCE_FAILED, LINK_REFUSED
 */
export async function findUpstream(context: EngineContext, wanted: string): Promise<Upstream> {
  const { root, cwd } = context;
  if (!isGitFolder(root) || (await resolveCommit(root, 'HEAD')) === null) {
    throw new ClawError(
      'RELEASE_NOT_FOUND',
      'This folder has no git history, so claw cannot tell your edits from the release. Name the release that you ' +
        'began from: claw init --release <folder>.',
    );
  }
  const remotes = await listRemotes(root);
  const named = remotes.find(({ name }) => name === wanted);
  const known = named === undefined ? await resolveCommit(root, wanted) : null;
  if (known !== null) {
    await refuseAmbiguousRef(root, wanted);
    return { commit: known, ref: wanted, remote: null, keep: async () => {} };
  }
  const repository = named === undefined ? addressOf(wanted, cwd) : addressOf(named.url, root);
  if (repository === null) {
    throw new ClawError(
      'RELEASE_NOT_FOUND',
      `${wanted} is neither a ref that git knows here, nor a remote, nor an address. Give the address of the ` +
        'project that you forked, such as https://github.com/<owner>/<project>.git.',
      { path: wanted },
    );
  }
  await refuseShallow(root);
  await refuseForeignGit(root, wanted);
  const url = repository.kind === 'local' ? repository.path : repository.url;
  const there = named ?? remotes.find((remote) => isSameAddress(remote.url, url, root));
  const name = there?.name ?? freeName(remotes.map((remote) => remote.name));
  return await fetchUpstream(context, { repository, url, name, isNew: there === undefined });
}

type Remote = { readonly name: string; readonly url: string };

async function listRemotes(root: string): Promise<readonly Remote[]> {
  const names = (await runGit(root, ['remote'])).toString('utf8').split('\n');
  const wanted = names.filter((name) => name !== '');
  const urls = await Promise.all(
    wanted.map(async (name) => {
      const found = await runGit(root, ['config', '--default', '', '--get', `remote.${name}.url`]);
      return { name, url: found.toString('utf8').trim() };
    }),
  );
  return urls.filter(({ url }) => url !== '');
}

function addressOf(text: string, cwd: string): GitRepository | null {
  const path = resolve(cwd, text);
  const isLocal = existsSync(join(path, '.git')) || existsSync(join(path, 'objects'));
  if (isLocal) return { kind: 'local', path };
  return parseGitAddress(text, cwd)?.repository ?? null;
}

function isSameAddress(one: string, other: string, root: string): boolean {
  const plain = (url: string) => {
    const path = resolve(root, url);
    return (existsSync(path) ? path : url).replace(/\/+$/, '').replace(/\.git$/, '');
  };
  return plain(one) === plain(other);
}

function freeName(taken: readonly string[]): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? 'upstream' : `upstream-${count}`;
    if (!taken.includes(name)) return name;
  }
}

/** A part of a history has no commits from which the rest could be told. */
async function refuseShallow(root: string): Promise<void> {
  const said = await runGit(root, ['rev-parse', '--is-shallow-repository']);
  if (said.toString('utf8').trim() !== 'true') return;
  throw new ClawError(
    'RELEASE_NOT_FOUND',
    'git has only a part of the history here (a shallow clone). Bring the rest first: git fetch --unshallow.',
  );
}

/**
 * Refuses to fetch where git's folder is not the project's own, or leads elsewhere by links: what is written there could
 * be in another repository, or in any folder of the owner's. The project may have come from a stranger.
 *
 * @throws ClawError LINK_REFUSED
 */
async function refuseForeignGit(root: string, wanted: string): Promise<void> {
  const own = await ownGitFolder(root);
  const link = own === null ? '.git' : linkIn(own);
  if (link === null) return;
  throw new ClawError(
    'LINK_REFUSED',
    `git keeps the history of this project elsewhere (${link}), and claw writes nothing there. Fetch it yourself, and ` +
      `name the branch: git fetch ${shellWord(wanted)}, then claw adopt <remote>/<branch>.`,
    { path: link },
  );
}

/** Returns git's folder if it is in the project, or in a repository that has this project as a work tree; else null. */
async function ownGitFolder(root: string): Promise<string | null> {
  const said = await runGit(root, ['rev-parse', '--absolute-git-dir', '--git-common-dir']);
  const [gitDir = '', commonDir = ''] = said.toString('utf8').split('\n');
  const [place, common] = [realpathSync(gitDir), realpathSync(resolve(root, commonDir))];
  if (common === join(realpathSync(root), '.git')) return common;
  const back = join(place, 'gitdir');
  const isWorkTree = place.startsWith(`${common}/worktrees/`) && existsSync(back);
  if (!isWorkTree) return null;
  // The stranger could not write this one: it is in the repository, not in the project.
  const workTree = resolve(place, readFileSync(back, 'utf8').trim());
  return existsSync(workTree) && realpathSync(workTree) === join(realpathSync(root), '.git')
    ? common
    : null;
}

/** Returns a link among the places in git's folder that a fetch writes to; null where there is none. */
function linkIn(common: string): string | null {
  const folders = ['refs', 'logs'].flatMap((name) => {
    const folder = join(common, name);
    if (lstat(folder)?.isDirectory() !== true) return [];
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.map((entry) => relative(common, join(entry.parentPath, entry.name)));
  });
  const places = ['config', 'packed-refs', 'refs', 'logs', 'objects', 'objects/pack', ...folders];
  const link = places.find((path) => lstat(join(common, path))?.isSymbolicLink() === true);
  return link === undefined ? null : join('.git', link);
}

type Source = {
  readonly repository: GitRepository;
  readonly url: string;
  readonly name: string;
  readonly isNew: boolean;
};

async function fetchUpstream(context: EngineContext, source: Source): Promise<Upstream> {
  const { root, signal, onProgress } = context;
  const { repository, url, name, isNew } = source;
  const shown = repository.kind === 'local' ? repository.path : repository.shown;
  const place = mkdtempSync(join(tmpdir(), 'claw-upstream-'));
  onProgress({ kind: 'step', text: `Fetching ${shown}` });
  try {
    const git = await openGit(place, context);
    const from = repository.kind === 'local' ? pathToFileURL(repository.path).href : url;
    await git.raw(['init', '--quiet', '--bare', '--template=']);
    const objects = await objectFolder(root);
    mkdirSync(join(place, 'objects/info'), { recursive: true });
    // So git asks for nothing that is here already.
    writeFileSync(join(place, 'objects/info/alternates'), `${objects}\n`);
    const heads = await git.raw(['ls-remote', '--symref', '--', from, 'HEAD']);
    const [, branch] = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(heads) ?? [];
    if (branch === undefined) {
      throw new ClawError(
        'RELEASE_NOT_FOUND',
        `${shown} does not say which of its branches is the main one. Fetch it yourself and name the branch: ` +
          'claw adopt <remote>/<branch>.',
      );
    }
    // One pack, whatever its size: it is copied as it is.
    const flags = ['--keep', '--progress', '--no-recurse-submodules'];
    await git.raw(['fetch', ...flags, '--', from, `+refs/heads/*:refs/remotes/${name}/*`]);
    const refs = await readRefs(place);
    copyPacks(join(place, 'objects/pack'), join(objects, 'pack'));
    onProgress({ kind: 'done', text: `Fetched ${shown}` });
    const commit = refs.get(`refs/remotes/${name}/${branch}`);
    if (commit === undefined) throw new Error(`it has no branch ${branch}`);
    return {
      commit,
      ref: `${name}/${branch}`,
      remote: { name, shown, isNew },
      keep: () => keepRefs(root, { ...source, branch, refs }),
    };
  } catch (cause) {
    throwIfInterrupted(signal);
    if (cause instanceof ClawError) throw cause;
    throw sourceFailure({ repository }, shown, cause);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

async function objectFolder(root: string): Promise<string> {
  const found = await runGit(root, ['rev-parse', '--git-path', 'objects']);
  return resolve(root, found.toString('utf8').trim());
}

async function readRefs(place: string): Promise<ReadonlyMap<string, string>> {
  const format = '--format=%(objectname) %(refname)';
  const listing = await runGit(place, ['--git-dir', place, 'for-each-ref', format]);
  return new Map(
    listing
      .toString('utf8')
      .split('\n')
      .flatMap((line) => {
        const at = line.indexOf(' ');
        return at < 0 ? [] : [[line.slice(at + 1), line.slice(0, at)] as const];
      }),
  );
}

/** Copies packs, an index last: git looks at a pack only where its index is. */
function copyPacks(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  const names = readdirSync(from).filter((name) => /^pack-[0-9a-f]+\.(pack|rev|idx)$/.test(name));
  const rank = (name: string) => (name.endsWith('.idx') ? 1 : 0);
  for (const name of names.sort((one, other) => rank(one) - rank(other))) {
    const target = join(to, name);
    // Exclusively: a link that leads nowhere is not followed.
    if (!existsSync(target)) copyFileSync(join(from, name), target, constants.COPYFILE_EXCL);
  }
}

type RemoteBranch = Source & {
  readonly branch: string;
  readonly refs: ReadonlyMap<string, string>;
};

/** Writes the remote and its refs, as `git remote add` and `git fetch` do. Tags that are here stay as they are. */
async function keepRefs(
  root: string,
  { url, name, isNew, branch, refs }: RemoteBranch,
): Promise<void> {
  if (isNew) await runGit(root, ['remote', 'add', name, url]);
  const tags = (await runGit(root, ['tag', '--list'])).toString('utf8').split('\n');
  const known = new Set(tags.map((tag) => `refs/tags/${tag}`));
  const updates = [...refs].flatMap(([ref, commit]) =>
    ref.startsWith('refs/remotes/') || (ref.startsWith('refs/tags/') && !known.has(ref))
      ? [`update ${ref}\0${commit}\0\0`]
      : [],
  );
  // A ref that names another one is replaced, not followed: that may be a branch of the owner's.
  await runGit(root, ['update-ref', '--no-deref', '-z', '--stdin'], updates.join(''));
  const remoteHead = `refs/remotes/${name}/HEAD`;
  await runGit(root, ['symbolic-ref', remoteHead, `refs/remotes/${name}/${branch}`]);
}
