import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  abort,
  apply,
  ClawError,
  init,
  pack,
  plan,
  type VerbResult,
} from '../../packages/claw/src/index.ts';
import {
  PLAIN_UPDATE,
  type UpdateOptions,
} from '../../packages/claw/src/operation/update-options.ts';
import { contextOf, pathsOf } from './git.ts';

/** Conflicts that an owner would be asked about. */
type Asked = { readonly files: number; readonly hunks: number };

/** The same update three times: every skill kept, without a word, and with a yes to all that may go. */
type ByOwner<T> = { readonly keeping: T; readonly plain: T; readonly retiring: T };

export type ClawCounts = {
  /** Commits that became a skill and were applied. */
  readonly packages: number;
  /** Why others did not, and how many. */
  readonly refused: Readonly<Record<string, number>>;
  readonly asked: ByOwner<Asked>;
  /** Skills that are removed because the release contains them. */
  readonly retired: ByOwner<number>;
};

type Work = {
  /** A clone on the older release. */
  readonly root: string;
  readonly to: string;
  readonly commits: readonly string[];
  /** Tells that the time is up, so that no more commits are packed. */
  readonly isLate: () => boolean;
};

/** Packs commits as skills, one each, applies them, and plans the update to the newer release. */
export async function packHistory({ root, to, commits, isLate }: Work) {
  // What is measured is merging: nothing is installed, and nothing run to prove a tree.
  writeFileSync(join(root, 'claw.config.yaml'), "test: 'true'\n");
  await init(contextOf(root), { release: 'HEAD', coreVersion: null });
  const names = new Map<string, string>();
  const refused: Record<string, number> = {};
  for (const [index, commit] of commits.entries()) {
    const name = `c${String(index).padStart(4, '0')}-${commit.slice(0, 8)}`;
    const reason = isLate() ? 'out of time' : await addCommit(root, commit, name);
    if (reason === null) names.set(commit, name);
    else refused[reason] = (refused[reason] ?? 0) + 1;
  }
  const update = (options: Partial<UpdateOptions>) =>
    plan(contextOf(root), {
      verb: 'update',
      args: [to],
      update: { ...PLAIN_UPDATE, ...options },
    });
  const results = {
    keeping: await update({ keep: [...names.values()] }),
    plain: await update({}),
    retiring: await update({ retireContained: true }),
  };
  return {
    applied: [...names.keys()],
    packages: names.size,
    refused,
    asked: byOwner(results, askedBy),
    retired: byOwner(results, retiredBy),
  } satisfies ClawCounts & { readonly applied: readonly string[] };
}

/** Makes a commit a skill, or says why it cannot be one here. */
async function addCommit(root: string, commit: string, name: string): Promise<string | null> {
  const context = { ...contextOf(root), allow: pathsOf(root, commit) };
  const packed = await outcomeOf(() =>
    pack(context, name, { range: `${commit}^..${commit}`, description: commit }),
  );
  if (packed !== null) return packed;
  const applied = await outcomeOf(() => apply(context, [name]));
  if (applied === null) return null;
  await abort(context);
  rmSync(join(root, 'skills', name), { recursive: true, force: true });
  return applied;
}

/** Null where a verb did its work. */
async function outcomeOf(verb: () => Promise<VerbResult>): Promise<string | null> {
  try {
    const { outcome, error } = await verb();
    if (outcome === 'done' || outcome === 'nothing') return null;
    return outcome === 'blocked' ? 'in conflict with what is there' : (error?.code ?? outcome);
  } catch (error) {
    if (error instanceof ClawError) return error.code;
    throw error;
  }
}

function askedBy({ conflicts }: VerbResult): Asked {
  const hunks = conflicts.map(({ hunks: all }) => all.filter(({ kind }) => kind === 'conflict'));
  const files = new Set(conflicts.map(({ path }) => path.split('#')[0]));
  // What is not text, or is decided by its key, is one question.
  const questions = hunks.reduce((sum, open) => sum + Math.max(1, open.length), 0);
  return { files: files.size, hunks: questions };
}

function retiredBy({ data }: VerbResult): number {
  if (typeof data !== 'object' || data === null || !('retired' in data)) return 0;
  return Array.isArray(data.retired) ? data.retired.length : 0;
}

function byOwner<T>(
  { keeping, plain, retiring }: ByOwner<VerbResult>,
  map: (one: VerbResult) => T,
) {
  return { keeping: map(keeping), plain: map(plain), retiring: map(retiring) };
}
