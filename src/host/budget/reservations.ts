import type { Spending } from '../../store/store.ts';

type Amount = Pick<Spending, 'microUsd' | 'tokens'>;
type Reserved = Amount & { readonly folder: string };

/**
 * Amounts beside the charged ones: the most that calls under way may still cost, and the cost of calls whose
 * charge could not be written, such as on a full disk.
 */
export interface Reservations {
  /** All of it for a folder; null is for all together. */
  reservedOf(folder: string | null): Amount;
  /** The part of it that was spent and not written. */
  unwrittenOf(folder: string | null): Amount;
  reserve(reserved: Reserved): Reservation;
  /** Resolves at the next change of what is reserved or may be spent, or when the signal is aborted. */
  change(signal: AbortSignal): Promise<void>;
  changed(): void;
}

export type Reservation = {
  /** Writes the true cost, once. What `write` returns could not be written, until the process ends. */
  charge(write: () => Amount | null): void;
};

export function openReservations(): Reservations {
  const open = new Set<Reserved>();
  const unwritten = new Set<Reserved>();
  let next = Promise.withResolvers<void>();

  function changed(): void {
    const { resolve } = next;
    next = Promise.withResolvers<void>();
    resolve();
  }

  return {
    changed,
    reservedOf: (folder) => sumOf([...open, ...unwritten], folder),
    unwrittenOf: (folder) => sumOf([...unwritten], folder),
    reserve(given) {
      // Of its own: two calls can be alike.
      const reserved = { ...given };
      open.add(reserved);
      return {
        charge(write) {
          if (!open.delete(reserved)) return;
          const lost = write();
          if (lost !== null) unwritten.add({ ...lost, folder: reserved.folder });
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

function sumOf(all: readonly Reserved[], folder: string | null): Amount {
  const counted = all.filter((reserved) => folder === null || reserved.folder === folder);
  return {
    microUsd: counted.reduce((sum, reserved) => sum + reserved.microUsd, 0),
    tokens: counted.reduce((sum, reserved) => sum + reserved.tokens, 0),
  };
}
