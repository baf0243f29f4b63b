import type { Spending } from '../../store/store.ts';

type Amount = Pick<Spending, 'microUsd' | 'tokens'>;
type Held = Amount & { readonly folder: string };

/** What calls under way may still cost, at most: held back until it is known what they did cost. */
export interface Till {
  /** What is held for a folder; null is for all together. */
  heldOf(folder: string | null): Amount;
  hold(held: Held): Hold;
  /** Resolves at the next change of what is held or may be spent, or when the signal is aborted. */
  change(signal: AbortSignal): Promise<void>;
  changed(): void;
}

export type Hold = {
  /** Writes the true cost, once. What `write` returns could not be written, and stays held. */
  settle(write: () => Amount | null): void;
};

export function openTill(): Till {
  const holds = new Map<object, Held>();
  let next = Promise.withResolvers<void>();

  function changed(): void {
    const { resolve } = next;
    next = Promise.withResolvers<void>();
    resolve();
  }

  return {
    changed,
    heldOf(folder) {
      let [microUsd, tokens] = [0, 0];
      for (const held of holds.values()) {
        if (folder !== null && held.folder !== folder) continue;
        microUsd += held.microUsd;
        tokens += held.tokens;
      }
      return { microUsd, tokens };
    },
    hold(held) {
      const key = {};
      holds.set(key, held);
      return {
        settle(write) {
          if (!holds.has(key)) return;
          holds.delete(key);
          const unwritten = write();
          if (unwritten !== null) holds.set({}, { ...held, ...unwritten });
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
