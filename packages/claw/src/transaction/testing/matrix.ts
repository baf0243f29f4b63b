import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { execa } from 'execa';
import type { Recovery } from '../journal.ts';
import { layOutBefore, snapshot } from './scenario.ts';
import { CALLS, census, type Injection, inject } from './strace.ts';

const COMMIT = join(import.meta.dirname, 'commit-child.ts');
const RECOVER = join(import.meta.dirname, 'recover-child.js');

/** A commit that is broken at one call, and possibly its recovery at another. */
export type Case = { readonly commit: Injection; readonly recover?: Injection };

export type Verdict = {
  readonly tried: Case;
  /** The tree at the end. */
  readonly tree: 'before' | 'after' | 'mixed';
  /** True if that is right, and nothing was left over. */
  readonly isRight: boolean;
  readonly detail: string;
};

/** Breaks one commit after the other, each on a fresh project under `folder`. */
export class CrashMatrix {
  readonly #folder: string;
  #count = 0;
  #before: unknown;
  #after: unknown;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Runs the commit once as it should be, and names every point at which it can be broken. */
  async points(): Promise<readonly Pick<Injection, 'call' | 'nth'>[]> {
    const root = this.#fresh();
    this.#before = snapshot(root);
    const counts = await census([process.execPath, COMMIT, root], `${root}.log`);
    this.#after = snapshot(root);
    return CALLS.flatMap((call) =>
      Array.from({ length: counts[call] ?? 0 }, (_, index) => ({ call, nth: index + 1 })),
    );
  }

  /**
   * Breaks a commit, then lets fresh processes recover.
   *
   * @param recoverWith the Node that recovers, such as an older one
   */
  async try(tried: Case, recoverWith = process.execPath): Promise<Verdict> {
    const root = this.#fresh();
    const log = `${root}.log`;
    const run = await inject([process.execPath, COMMIT, root], log, tried.commit);
    const atOnce = this.#compare(root);
    let isHit = run.isHit;
    if (tried.recover !== undefined) {
      const broken = await inject([recoverWith, RECOVER, root], log, tried.recover);
      // A recovery that needs fewer calls than that is simply not broken.
      isHit &&= broken.isHit || broken.exitCode === 0;
    }
    const { stdout } = await execa(recoverWith, [RECOVER, root]);
    const recovery = JSON.parse(stdout) as Recovery;
    const tree = this.#compare(root);
    const faults = [
      isHit ? '' : 'the injection missed',
      tree === 'mixed' ? 'the tree is mixed' : '',
      recovery.outcome === 'needs-decision' ? 'a decision was asked for' : '',
      this.#leftovers(root),
      tried.commit.effect === 'SIGKILL'
        ? ''
        : errorFault(run.stdout, tried.commit.isPersistent === true ? tree : atOnce),
    ].filter((fault) => fault !== '');
    rmSync(root, { recursive: true, force: true });
    const detail = faults.join('; ') || recovery.outcome;
    return { tried, tree, isRight: faults.length === 0, detail };
  }

  #fresh(): string {
    this.#count += 1;
    const root = join(this.#folder, `project-${this.#count}`);
    mkdirSync(root);
    layOutBefore(root);
    return root;
  }

  #compare(root: string): Verdict['tree'] {
    const now = snapshot(root);
    if (isDeepStrictEqual(now, this.#before)) return 'before';
    return isDeepStrictEqual(now, this.#after) ? 'after' : 'mixed';
  }

  #leftovers(root: string): string {
    const left = readdirSync(join(root, '.claw/tx')).filter((name) => !name.startsWith('view-'));
    return left.length === 0 ? '' : `left in tx/: ${left.join(', ')}`;
  }
}

/**
 * Checks the tree after an error of the disk. Success means after, an error means before: at once, and on a
 * disk that stays broken once the next command has recovered on a good one.
 */
function errorFault(stdout: string, tree: Verdict['tree']): string {
  const wanted = stdout === 'done' ? 'after' : stdout === 'IO_FAILED' ? 'before' : null;
  return tree === wanted ? '' : `"${stdout}", the tree was ${tree}`;
}
