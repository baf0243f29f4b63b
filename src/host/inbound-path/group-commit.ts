import type { Result, Store } from '../../store/store.ts';

/** The event loop sees to its other work after this many. */
const MOST_AT_ONCE = 500;

type WaitingWork<T> = {
  readonly work: () => T;
  readonly report: (result: Result<T>) => void;
};

export type GroupCommitOptions<T> = {
  readonly store: Pick<Store, 'batch'>;
  /**
   * Called with what was stored together, before any caller learns of it. What it throws is told
   * instead to those who wait: they hand the same over again.
   */
  readonly onStored: (values: readonly T[]) => void;
};

/**
 * Stores what arrives together with one commit. Each promise resolves when its own work is on disk, and
 * rejects with its own error; the order of the calls is the order in the store.
 *
 * What arrives in one turn of the event loop, or while the disk was busy with those before, is together.
 * It uses no timer: work that comes alone is written at once.
 */
export function openGroupCommit<T>(options: GroupCommitOptions<T>): (work: () => T) => Promise<T> {
  const { store, onStored } = options;
  let waiting: WaitingWork<T>[] = [];

  function commit(): void {
    const batch = waiting.slice(0, MOST_AT_ONCE);
    waiting = waiting.slice(MOST_AT_ONCE);
    if (waiting.length > 0) setImmediate(commit);
    const results = storeAll(batch.map(({ work }) => work));
    for (const [at, result] of results.entries()) batch[at]?.report(result);
  }

  function storeAll(works: readonly (() => T)[]): readonly Result<T>[] {
    try {
      const results = store.batch(works);
      const values = results.flatMap((it) => (it.kind === 'done' ? [it.value] : []));
      if (values.length > 0) onStored(values);
      return results;
    } catch (error) {
      return works.map(() => ({ kind: 'failed', error }));
    }
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(commit);
      const report = (it: Result<T>) => (it.kind === 'done' ? resolve(it.value) : reject(it.error));
      waiting.push({ work, report });
    });
}
