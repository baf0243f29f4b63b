import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mergeStructured } from '../../packages/claw/src/structured/merge.ts';
import { structuredKind } from '../../packages/claw/src/structured/structured-kind.ts';
import { mergeFiles } from '../../packages/merge/src/merge-files.ts';
import type { TreeFile, Versions } from '../../packages/merge/src/versions.ts';
import { type LostLine, lostLines } from './lost-lines.ts';
import {
  blobsOf,
  type Change,
  changesBetween,
  emptyScratch,
  type Git,
  type GitMerge,
  linesOf,
  mergeByGit,
  openGit,
  readBlobs,
} from './repository.ts';

/** What one tool makes of a file: the places that it asks about, or whether its text is the committed one. */
export type Verdict = { readonly hunks: number; readonly isCommitted: boolean };

/** A file that both the fork and its upstream changed since their merge base. */
export type ForkFile = {
  readonly path: string;
  readonly git: Verdict;
  readonly claw: Verdict;
  readonly lost: readonly LostLine[];
  /** Claw's text, with no text where it asks; and what the owner committed. */
  readonly text: string | null;
  readonly committed: string;
};

/** A merge of upstream into a fork; `files` is null where it has several merge bases. */
export type ForkMerge = {
  readonly commit: string;
  readonly date: string;
  readonly files: readonly ForkFile[] | null;
  /** Files that both sides changed but that are not compared: deleted or moved, binary, too long, or not committed. */
  readonly left: number;
};

type Commit = { readonly id: string; readonly ours: string; readonly theirs: string };
type Blobs = { readonly path: string; readonly committed: string } & Versions<string>;

/**
 * Reads a fork's merges of its upstream, newest first, and merges each once more with git and with claw.
 *
 * One merge is read at a time, and of it one file. The folders are only read.
 *
 * @param upstream a ref of the fork's folder, or the git folder of upstream, of which all branches count
 * @throws Error where the fork has no such ref
 */
export function* forkMerges(fork: string, upstream: string, limit: number): Iterable<ForkMerge> {
  const scratch = mkdtempSync(join(tmpdir(), 'fork-merges-'));
  try {
    const isFolder = existsSync(upstream);
    const git = openGit(fork, scratch, isFolder ? [upstream] : []);
    const known = isFolder ? branchesOf(upstream, scratch) : [commitOf(git, upstream)];
    for (const commit of listMerges(git, known).slice(0, limit)) {
      yield readMerge(git, commit);
      emptyScratch(scratch);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function branchesOf(folder: string, scratch: string): readonly string[] {
  const git = openGit(folder, scratch);
  const refs = ['for-each-ref', '--format=%(objectname)', 'refs/heads', 'refs/remotes'];
  const branches = linesOf(git(refs).out);
  return branches.length > 0 ? [...new Set(branches)] : [commitOf(git, 'HEAD')];
}

function commitOf(git: Git, ref: string): string {
  const { out, status } = git(['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]);
  if (status !== 0)
    throw new Error(`${ref} is neither a git folder nor a branch or tag of the fork.`);
  return out.toString().trim();
}

/** Lists the merges that have one parent of upstream's and one of the fork's own. */
function listMerges(git: Git, upstream: readonly string[]): readonly Commit[] {
  const range = ['rev-list', '--parents', 'HEAD', '--stdin'];
  const rows = linesOf(git(range, upstream.map((id) => `^${id}\n`).join('')).out);
  const own = new Set(rows.map((row) => row.split(' ', 1)[0]));
  return rows.flatMap((row): Commit[] => {
    const [id = '', ...parents] = row.split(' ');
    const [ours, theirs] = [
      parents.filter((one) => own.has(one)),
      parents.filter((one) => !own.has(one)),
    ];
    if (ours.length !== 1 || theirs.length !== 1) return [];
    return [{ id, ours: ours[0] ?? '', theirs: theirs[0] ?? '' }];
  });
}

function readMerge(git: Git, commit: Commit): ForkMerge {
  const { id, ours, theirs } = commit;
  const date = git(['show', '--no-patch', '--format=%cs', id]).out.toString().trim();
  const [base, ...others] = linesOf(git(['merge-base', '--all', ours, theirs]).out);
  const merged = mergeByGit(git, ours, theirs, 'merge');
  if (base === undefined || others.length > 0 || merged === null) {
    return { commit: id, date, files: null, left: 0 };
  }
  const mine = changesBetween(git, base, ours);
  const other = changesBetween(git, base, theirs);
  const both = [...mine.keys()].filter(
    (path) => other.has(path) && mine.get(path)?.after !== other.get(path)?.after,
  );
  const committed = both.length === 0 ? new Map<string, string>() : blobsOf(git, id, both);
  const results = both.length === 0 ? new Map<string, string>() : blobsOf(git, merged.tree, both);
  const files = both.flatMap((path): ForkFile[] => {
    const blobs = blobsAt(path, mine.get(path), other.get(path), committed.get(path));
    const file = blobs === null ? null : readFile(git, blobs, merged, results.get(path) ?? '');
    return file === null ? [] : [file];
  });
  return { commit: id, date, files, left: both.length - files.length };
}

function blobsAt(
  path: string,
  mine: Change | undefined,
  other: Change | undefined,
  committed: string | undefined,
): Blobs | null {
  if (!mine?.after || !other?.after || committed === undefined) return null;
  return { path, base: mine.before ?? '', ours: mine.after, theirs: other.after, committed };
}

function readFile(git: Git, blobs: Blobs, merged: GitMerge, result: string): ForkFile | null {
  const { path } = blobs;
  const texts = readBlobs(git, [blobs.base, blobs.ours, blobs.theirs, blobs.committed, result]);
  const base = blobs.base === '' ? '' : texts.get(blobs.base);
  const [ours, theirs] = [texts.get(blobs.ours), texts.get(blobs.theirs)];
  const committed = texts.get(blobs.committed);
  if (base === undefined || ours === undefined || theirs === undefined) return null;
  if (committed === undefined || /^<{7} /m.test(committed)) return null;
  const own = mergeByClaw(path, { base: blobs.base === '' ? null : base, ours, theirs });
  const byGit = texts.get(result) ?? '';
  const isAsked = merged.conflicted.has(path);
  const places = Math.max(1, byGit.match(/^<{7} /gm)?.length ?? 0);
  const isCommitted = (text: string) => squash(text) === squash(committed);
  return {
    path,
    git: { hunks: isAsked ? places : 0, isCommitted: !isAsked && isCommitted(byGit) },
    claw: { hunks: own.hunks, isCommitted: own.hunks === 0 && isCommitted(own.text) },
    lost: lostLines({ base, ours, theirs }, own.all),
    text: own.hunks === 0 ? own.text : null,
    committed,
  };
}

/** `all` is the text with both sides of each place that is asked about. */
type ClawMerge = { readonly hunks: number; readonly text: string; readonly all: string };

function mergeByClaw(
  path: string,
  { base, ours, theirs }: Omit<Versions<string>, 'base'> & { readonly base: string | null },
): ClawMerge {
  const both = `${ours}\n${theirs}`;
  const kind = structuredKind(path, {});
  if (kind !== null) {
    const versions = {
      base: base === null ? null : Buffer.from(base),
      ours: Buffer.from(ours),
      theirs: Buffer.from(theirs),
    };
    const layers = ['fork', 'upstream'] as const;
    const { bytes, conflicts } = mergeStructured({ path, kind, versions, layers });
    const text = bytes?.toString() ?? '';
    return { hunks: conflicts.length, text, all: conflicts.length > 0 ? both : text };
  }
  const versions = { base: fileOf(base), ours: fileOf(ours), theirs: fileOf(theirs) };
  const merge = mergeFiles(versions, { path });
  if (merge.kind === 'clean') {
    const text = merge.file?.bytes.toString() ?? '';
    return { hunks: 0, text, all: text };
  }
  const asked = merge.hunks.filter((hunk) => hunk.kind === 'conflict');
  const lines = merge.hunks.flatMap((hunk) =>
    hunk.kind === 'conflict' ? [...hunk.ours, '\n', ...hunk.theirs, '\n'] : hunk.lines,
  );
  const all = lines.length === 0 ? both : Buffer.from(lines.join(''), 'latin1').toString();
  return { hunks: Math.max(1, asked.length), text: '', all };
}

function fileOf<T extends string | null>(text: T): TreeFile | Extract<T, null> {
  return (text === null ? null : { bytes: Buffer.from(text), isExecutable: false }) as
    | TreeFile
    | Extract<T, null>;
}

function squash(text: string): string {
  return text.replaceAll(/\s+/g, '');
}
