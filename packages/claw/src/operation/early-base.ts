import type { Release } from '../installed/release.ts';
import { tidyUp } from '../pending/pending.ts';
import type { Step } from '../transaction/journal.ts';
import { prepareBase, sweepPrepared } from './release-state.ts';

/**
 * A release that is written beside its place while its command is still being planned, so that both wait for the disk
 * at the same time.
 */
export type EarlyBase = {
  /** Resolves once the files are written, and the disk is at it. Fails never: `stepOf` tells what went wrong. */
  readonly bring: (release: Release) => Promise<void>;
  /** Returns the step that puts this release there; null where it was not brought. */
  readonly stepOf: (release: Release) => Promise<Step> | null;
};

/**
 * Runs a command that may bring a release early, and afterwards removes what it did not use. The caller holds the
 * lock.
 */
export async function withEarlyBase<T>(
  root: string,
  signal: AbortSignal | undefined,
  work: (early: EarlyBase) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const signals = [ending.signal, ...(signal ? [signal] : [])];
  const steps = new Map<Release, Promise<Step>>();
  const bring = async (release: Release): Promise<void> => {
    const { promise: written, resolve: onWritten } = Promise.withResolvers<void>();
    const step = prepareBase(root, release, { signal: AbortSignal.any(signals), onWritten });
    steps.set(release, step);
    step.catch(() => onWritten()); // `stepOf` tells what went wrong.
    await written;
  };
  try {
    return await work({ bring, stepOf: (release) => steps.get(release) ?? null });
  } finally {
    ending.abort();
    await Promise.allSettled(steps.values());
    if (steps.size > 0) tidyUp(() => sweepPrepared(root));
  }
}
