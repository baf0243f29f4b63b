import { mkdtempSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { SimpleGit, SimpleGitOptions } from 'simple-git';
import { ClawError } from '../../errors.ts';
import { throwIfInterrupted } from '../../interrupted.ts';
import type { FetchEdges, Fetched } from './fetched.ts';
import type { GitAddress } from './git-address.ts';
import { gitEnvironment, OWN_VARIABLES } from './git-environment.ts';
import { listCommit, parseBlobs, requestBlobs } from './git-folder.ts';

/**
 * Fetches a folder of a git repository: one commit, into a bare repository beside the system's other
 * temporary files, from where the files are read without a checkout. So no hook, no filter, no
 * submodule and no link of the repository ever comes into play.
 *
 * @throws ClawError SOURCE_FAILED with git's last line, SKILL_NOT_FOUND where the commit has no such
 * folder, LIMIT_EXCEEDED before anything too large is read, INTERRUPTED
 */
export async function fetchGit(
  address: GitAddress,
  source: string,
  edges: FetchEdges,
): Promise<Fetched> {
  const place = mkdtempSync(join(tmpdir(), 'claw-source-'));
  edges.onProgress({ kind: 'step', text: `Fetching ${source}` });
  try {
    const git = await openGit(place, edges);
    const commit = await fetchCommit(git, address);
    const listing = await git.raw(['ls-tree', '-r', '-z', '-l', '--full-tree', commit]);
    const { entries, irregular } = listCommit(listing, address.folder);
    const reader = await openGit(place, edges, requestBlobs(entries));
    const files = parseBlobs(await reader.binaryCatFile(['--batch']), entries);
    edges.onProgress({ kind: 'done', text: `Fetched ${source}` });
    return { files, irregular, commit };
  } catch (cause) {
    throwIfInterrupted(edges.signal);
    if (cause instanceof ClawError) throw cause;
    throw sourceFailure(address, source, cause);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const STALLED_MS = 60_000;

/** Opens a git that fetches: with none of the settings of a project, and in the owner's own ways to reach a repository. */
export async function openGit(
  baseDir: string,
  { environment, signal, onProgress }: FetchEdges,
  input = '',
): Promise<SimpleGit> {
  const { simpleGit } = await import('simple-git');
  const options: Partial<SimpleGitOptions> = {
    baseDir,
    config: [
      `core.hooksPath=${devNull}`,
      'core.fsmonitor=false',
      'fetch.recurseSubmodules=false',
      'gc.auto=0',
    ],
    allowEnvironment: OWN_VARIABLES,
    // Guards against arguments from outside. All of these come from here, and shut what they name.
    unsafe: {
      allowUnsafeAskPass: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeHooksPath: true,
      allowUnsafeSshCommand: true,
      allowUnsafeTemplateDir: true,
    },
    progress: ({ stage, progress }) => {
      const isWorthTelling = progress % 25 === 0 && progress < 100;
      if (isWorthTelling) onProgress({ kind: 'note', text: `git: ${stage} ${progress} %` });
    },
    timeout: { block: STALLED_MS },
    input: () => input,
    ...(signal ? { abort: signal } : {}),
  };
  return simpleGit(options).env(gitEnvironment(environment));
}

async function fetchCommit(git: SimpleGit, { repository, ref }: GitAddress): Promise<string> {
  // A path would be read in place, with links and all; a URL goes through git's own protocol.
  const url = repository.kind === 'local' ? pathToFileURL(repository.path).href : repository.url;
  await git.raw(['init', '--quiet', '--bare', '--template=']);
  const flags = ['--depth=1', '--no-tags', '--no-recurse-submodules'];
  await git.raw(['fetch', '--progress', ...flags, '--', url, ref ?? 'HEAD']);
  return (await git.raw(['rev-parse', '--verify', 'FETCH_HEAD^{commit}'])).trim();
}

/** Makes the error of a repository that could not be fetched, from what git said. */
export function sourceFailure(
  { repository }: Pick<GitAddress, 'repository'>,
  source: string,
  cause: unknown,
): ClawError {
  const said = cause instanceof Error ? cause.message : String(cause);
  // git repeats the address that it was given, with what must not be shown.
  const secret =
    repository.kind === 'remote' ? /\/\/([^/]*)@/.exec(repository.url)?.[1] : undefined;
  const shown = secret === undefined ? said : said.replaceAll(`${secret}@`, '');
  const lines = shown.split('\n').filter((line) => /^(fatal|error|remote|ssh|warning):/.test(line));
  const reason = (lines.length > 0 ? lines : shown.trim().split('\n')).slice(-3).join('; ');
  return new ClawError(
    'SOURCE_FAILED',
    `${source} cannot be fetched (${reason.trim()}). Check the address, the ref and your access.`,
    { data: { output: shown } },
  );
}
