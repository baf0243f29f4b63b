import { runGit, splitListing } from './git.ts';

/** A commit as it is told about. */
export type LoggedCommit = {
  readonly commit: string;
  /** One line without control characters. */
  readonly subject: string;
  /** Its message says that it breaks something: `feat!:`, `BREAKING CHANGE`, `[BREAKING]`. */
  readonly isBreaking: boolean;
};

/** The commits of a stretch of history, merges left out. Those that are named are few. */
export type CommitList = {
  readonly count: number;
  readonly breaking: number;
  /** Breaking commits first, then the newest. */
  readonly shown: readonly LoggedCommit[];
};

/** Commits whose messages are read. A longer stretch is counted, and its newest part read. */
const MOST_READ = 3000;
/** Commits that are named. */
const MOST_SHOWN = 10;
const LONGEST_SUBJECT = 80;

/** Returns the commits that are in `to` and not in `from`. */
export async function listCommits(root: string, from: string, to: string): Promise<CommitList> {
  const range = ['--no-merges', to, `^${from}`];
  const counted = await runGit(root, ['rev-list', '--count', ...range]);
  const commits = await readLog(root, [`--max-count=${MOST_READ}`, ...range]);
  const breaking = commits.filter(({ isBreaking }) => isBreaking);
  const ordered = [...breaking, ...commits.filter(({ isBreaking }) => !isBreaking)];
  return {
    count: Number(counted.toString('utf8')),
    breaking: breaking.length,
    shown: ordered.slice(0, MOST_SHOWN),
  };
}

async function readLog(root: string, args: readonly string[]): Promise<readonly LoggedCommit[]> {
  const output = await runGit(root, ['log', '--format=%H%x1f%s%x1f%b%x1e', ...args]);
  return output
    .toString('utf8')
    .split('\x1e')
    .flatMap((record) => {
      const [commit = '', subject = '', body = ''] = record.trimStart().split('\x1f');
      return commit === '' ? [] : [loggedCommit(commit, subject, body)];
    });
}

/** Reads what the message of a commit says of it, by the rules of conventional commits. */
export function loggedCommit(commit: string, subject: string, body: string): LoggedCommit {
  const isBreaking =
    /^[\w-]+(\([^)]*\))?!:/.test(subject) ||
    /^([\w-]+(\([^)]*\))?: *)?\[?BREAKING\b/.test(subject) ||
    /^BREAKING[ -]CHANGE(:| #)/m.test(body);
  return { commit, subject: oneLine(subject), isBreaking };
}

/** Returns a text of somebody else's as one short line that steers no terminal. */
function oneLine(text: string): string {
  const characters = [...text.replace(/[\p{Cc}\p{Bidi_Control}]+/gu, ' ').trim()];
  if (characters.length <= LONGEST_SUBJECT) return characters.join('');
  return `${characters.slice(0, LONGEST_SUBJECT - 1).join('')}…`;
}

/** A file at one commit of the owner's: git's mode and id before and after, null where there is none. */
export type FileStep = {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
};

/** A commit of the owner's, with what it changed. */
export type OwnCommit = LoggedCommit & { readonly files: readonly FileStep[] };

/**
 * Returns the commits of HEAD that an upstream does not have, merges left out, the oldest first.
 *
 * @param upstream the commit of upstream's
 */
export async function readOwnCommits(
  root: string,
  upstream: string,
): Promise<readonly OwnCommit[]> {
  const output = await runGit(root, [
    ...['log', '--no-merges', '--reverse', '--topo-order', '--raw', '--no-renames', '--no-abbrev'],
    ...['-z', '--format=%x1e%H%x1f%s%x1f%b%x1f', 'HEAD', `^${upstream}`],
  ]);
  return output
    .toString('utf8')
    .split('\x1e')
    .flatMap((record) => {
      const [commit = '', subject = '', body = '', raw = ''] = record.split('\x1f');
      if (!/^[0-9a-f]{40,64}$/.test(commit)) return [];
      return [{ ...loggedCommit(commit, subject, body), files: fileSteps(raw) }];
    });
}

/** Reads git's raw lines: `:mode mode id id status`, and the path behind a zero byte. */
function fileSteps(raw: string): readonly FileStep[] {
  const found = raw.matchAll(/:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) \w\0([^\0]+)\0/g);
  return [...found].map(
    ([, modeBefore = '', modeAfter = '', before = '', after = '', path = '']) => ({
      path,
      before: entryOf(modeBefore, before),
      after: entryOf(modeAfter, after),
    }),
  );
}

/** Returns what a commit has at a path, as one text; null where it has no regular file there. */
function entryOf(mode: string, oid: string): string | null {
  return mode.startsWith('100') ? `${mode} ${oid}` : null;
}

/** Returns what a commit has at paths, as the steps of its history name it. */
export async function listEntries(
  root: string,
  commit: string,
): Promise<ReadonlyMap<string, string>> {
  const listing = await runGit(root, ['ls-tree', '-r', '-z', '--full-tree', commit]);
  return new Map(
    splitListing(listing).flatMap((line) => {
      const [, mode = '', oid = '', path] = /^(\d+) blob ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? [];
      const entry = entryOf(mode, oid);
      return path === undefined || entry === null ? [] : [[path, entry] as const];
    }),
  );
}

/** Returns the branches that the first-parent line of HEAD merged: each commit's branch, by its id. */
export async function readMergedBranches(
  root: string,
  upstream: string,
): Promise<ReadonlyMap<string, string>> {
  const merges = await runGit(root, [
    ...['log', '--merges', '--first-parent', '--reverse', '--format=%H%x1f%s%x1e'],
    ...['HEAD', `^${upstream}`],
  ]);
  const branchOf = new Map<string, string>();
  for (const record of merges.toString('utf8').split('\x1e')) {
    const [merge = '', subject = ''] = record.trimStart().split('\x1f');
    if (merge === '') continue;
    const brought = await runGit(root, ['rev-list', merge, `^${merge}^1`, `^${upstream}`]);
    const name = branchName(subject);
    for (const commit of brought.toString('utf8').split('\n')) {
      if (commit !== '' && !branchOf.has(commit)) branchOf.set(commit, name);
    }
  }
  return branchOf;
}

/** Returns the branch that a merge names: as git, GitHub or GitLab write it; else its subject. */
function branchName(subject: string): string {
  const [, git, github] =
    /^Merge (?:remote-tracking )?branch '([^']+)'|^Merge pull request #\d+ from [^/\s]+\/(\S+)/.exec(
      subject,
    ) ?? [];
  return oneLine(git ?? github ?? subject);
}
