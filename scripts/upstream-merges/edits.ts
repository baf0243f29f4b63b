import { join } from 'node:path';
import { type EngineContext, init } from '../../packages/claw/src/index.ts';
import { PLAIN_UPDATE } from '../../packages/claw/src/operation/update-options.ts';
import { planUpdate } from '../../packages/claw/src/verbs/update/update.ts';
import { isSameFile, type TreeFile } from '../../packages/merge/src/versions.ts';
import { commitsBetween, git, linesOf, must } from './git.ts';

/** How often an update came to the text that was committed, asked, or came to another one, to be read. */
export type Verdicts = { readonly right: number; readonly asked: number; readonly other: number };

export type EditCounts = {
  readonly edits: number;
  readonly claw: Verdicts;
  readonly git: Verdicts;
  /** Edits of which git and claw come to different ends, to be read. */
  readonly apart: readonly string[];
};

type Work = {
  readonly context: EngineContext;
  readonly from: string;
  readonly to: string;
  readonly count: number;
};

type Verdict = keyof Verdicts;

/**
 * Makes real commits edits of an owner: each is applied to the files of the older release, by hand and without a commit,
 * which is then updated to the newer one. Every other one is of commits that the newer release has, so that its text is
 * the right one; the others were made after it, and the right text is the newer release with them applied. So it is
 * with those that it took back.
 *
 * @param context of a clone on the older release
 */
export async function measureEdits({ context, from, to, count }: Work): Promise<EditCounts> {
  const { root } = context;
  await init(context, { release: 'HEAD', coreVersion: null });
  const end = must(git(root, ['rev-parse', 'origin/HEAD'])).trim();
  const kinds = [
    { commits: [...commitsBetween(root, from, to)], isReleased: true },
    { commits: [...commitsBetween(root, to, end)], isReleased: false },
  ];
  const verdicts: { readonly claw: Verdict; readonly git: Verdict; readonly commit: string }[] = [];
  while (verdicts.length < count && kinds.some(({ commits }) => commits.length > 0)) {
    for (const { commits, isReleased } of kinds) {
      const edit = nextEdit(root, commits, { from, to, isReleased });
      if (edit === null || verdicts.length >= count) continue;
      const byGit = gitVerdict(root, edit, to);
      verdicts.push({
        claw: await clawVerdict(context, edit, to),
        git: byGit,
        commit: edit.commit,
      });
    }
  }
  return {
    edits: verdicts.length,
    claw: counted(verdicts.map(({ claw }) => claw)),
    git: counted(verdicts.map((one) => one.git)),
    apart: verdicts.flatMap(({ claw, git: byGit, commit }) =>
      claw === byGit ? [] : [`${commit.slice(0, 9)}: claw ${claw}, git ${byGit}`],
    ),
  };
}

type Edit = {
  readonly commit: string;
  readonly patch: string;
  /** The older release with the edit, as a tree. */
  readonly edited: string;
  /** What the update may come to, as trees. */
  readonly right: readonly string[];
};

type Releases = { readonly from: string; readonly to: string; readonly isReleased: boolean };

/** Takes commits from the list up to one whose change applies to both releases; null where none does. */
function nextEdit(
  root: string,
  commits: string[],
  { from, to, isReleased }: Releases,
): Edit | null {
  for (let commit = commits.shift(); commit !== undefined; commit = commits.shift()) {
    const plain = ['--no-renames', '--binary', '--full-index', `${commit}^`, commit];
    const run = git(root, ['diff', ...plain]);
    if (run.status !== 0 || run.stdout === '' || run.stdout.includes('GIT binary')) continue;
    const patch = run.stdout;
    const edited = withPatch(root, from, patch);
    const again = withPatch(root, to, patch);
    const right = [...(isReleased ? [treeOf(root, to)] : []), ...(again === null ? [] : [again])];
    if (edited !== null && right.length > 0) return { commit, patch, edited, right };
  }
  return null;
}

function treeOf(root: string, ref: string): string {
  return must(git(root, ['rev-parse', `${ref}^{tree}`])).trim();
}

/** Returns the tree of a release with a patch; null where it does not apply. */
function withPatch(root: string, ref: string, patch: string): string | null {
  const index = { GIT_INDEX_FILE: join(root, '.git', 'edit-index') };
  must(git(root, ['read-tree', ref], { environment: index }));
  const applied = git(root, ['apply', '--cached', '-'], {
    environment: index,
    input: patch,
  });
  return applied.status === 0
    ? must(git(root, ['write-tree'], { environment: index })).trim()
    : null;
}

/** Merges the newer release into a commit of the edit, as `git merge` would. */
function gitVerdict(root: string, { edited, right }: Edit, to: string): Verdict {
  const head = must(git(root, ['rev-parse', 'HEAD'])).trim();
  const mine = must(git(root, ['commit-tree', '-p', head, '-m', 'edit', edited])).trim();
  const merged = git(root, ['merge-tree', '--write-tree', mine, to]);
  if (merged.status === 1) return 'asked';
  return right.includes(linesOf(must(merged))[0] ?? '') ? 'right' : 'other';
}

async function clawVerdict(context: EngineContext, edit: Edit, to: string): Promise<Verdict> {
  const { root } = context;
  must(git(root, ['apply', '-'], { input: edit.patch }));
  try {
    const { plan } = await planUpdate(context, to, PLAIN_UPDATE);
    if (plan.conflicts.length > 0) return 'asked';
    const made = new Map(plan.changes.map(({ path, after }) => [path, after]));
    const isRight = (right: string) => {
      const paths = new Set([...pathsBetween(root, edit.edited, right), ...made.keys()]);
      return [...paths].every((path) => {
        const after = made.get(path);
        const is = after === undefined ? fileAt(root, edit.edited, path) : after;
        return isSameFile(is, fileAt(root, right, path));
      });
    };
    return edit.right.some(isRight) ? 'right' : 'other';
  } finally {
    must(git(root, ['apply', '-R', '-'], { input: edit.patch }));
  }
}

/** Lists files that two trees have otherwise: links, submodules and npm's lock are not part of a core. */
function pathsBetween(root: string, one: string, other: string): readonly string[] {
  const listed = linesOf(must(git(root, ['diff', '--raw', '--no-renames', one, other])));
  return listed.flatMap((line) => {
    const [modes = '', path = ''] = line.split('\t');
    const isCore = !/^:1[26]0000|^:\d+ 1[26]0000/.test(modes) && path !== 'package-lock.json';
    return isCore ? [path] : [];
  });
}

function fileAt(root: string, tree: string, path: string): TreeFile | null {
  const listed = must(git(root, ['ls-tree', tree, '--', path]));
  if (listed === '') return null;
  const id = listed.split(/\s/)[2] ?? '';
  const bytes = Buffer.from(must(git(root, ['cat-file', 'blob', id])), 'latin1');
  return { bytes, isExecutable: listed.startsWith('100755') };
}

function counted(verdicts: readonly Verdict[]): Verdicts {
  const count = (one: Verdict) => verdicts.filter((verdict) => verdict === one).length;
  return { right: count('right'), asked: count('asked'), other: count('other') };
}
