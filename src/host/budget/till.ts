import type { Spending } from '../../store/store.ts';

type Amount = Pick<Spending, 'microUsd' | 'tokens'>;
type Held = Amount & { readonly folder: string };

/**
 * What is not in the books: the most that calls under way may still cost, and what calls have cost
 * whose charge could not be written, such as on a full disk.
 */
export interface Till {
  /** All of it for a folder; null is for all together. */
  heldOf(folder: string | null): Amount;
  /** The part of it that was spent and not written. */
  unwrittenOf(folder: string | null): Amount;
  hold(held: Held): Hold;
  /** Resolves at the next change of what is held or may be spent, or when the signal is aborted. */
  change(signal: AbortSignal): Promise<void>;
  changed(): void;
}

export type Hold = {
  /** Writes the true cost, once. What `write` returns could not be written, until the process ends. */
  charge(write: () => Amount | null): void;
};

export function openTill(): Till {
  const holds = new Set<Held>();
  const unwritten = new Set<Held>();
  let next = Promise.withResolvers<void>();

  function changed(): void {
    const { resolve } = next;
    next = Promise.withResolvers<void>();
    resolve();
  }

  return {
    changed,
    heldOf: (folder) => sumOf([...holds, ...unwritten], folder),
    unwrittenOf: (folder) => sumOf([...unwritten], folder),
    hold(given) {
      // Of its own: two calls can be alike.
      const held = { ...given };
      holds.add(held);
      return {
        charge(write) {
          if (!holds.delete(held)) return;
          const lost = write();
          if (lost !== null) unwritten.add({ ...lost, folder: held.folder });
          changed();
        },
      };
    },
    change(signal) {
      const { promise } = next;
      if (signal.aborted) return Promise.resolve();
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        void promise.then(resolve);
      });
    },
  };
}

function sumOf(all: readonly Held[], folder: string | null): Amount {
  const counted = all.filter((held) => folder === null || held.folder === folder);
  return {
    microUsd: counted.reduce((sum, held) => sum + held.microUsd, 0),
    tokens: counted.reduce((sum, held) => sum + held.tokens, 0),
  };
}
