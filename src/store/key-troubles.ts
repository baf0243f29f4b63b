import { z } from 'zod';
import type { Meta } from './meta.ts';

const KEY = 'model.keys-refused';
const Kept = z.record(z.string(), z.object({ since: z.number(), message: z.string() }));

/** A provider of models whose key was refused, while models of others answered. */
export type KeyTrouble = {
  readonly provider: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly message: string;
};

/** Keys of models' providers that are refused now. */
export interface KeyTroubles {
  /** Notes a refusal. Returns true for the first since the key worked. */
  note(trouble: KeyTrouble): boolean;
  /** Notes that a provider's key works. */
  forget(provider: string): void;
  all(): readonly KeyTrouble[];
}

export function openKeyTroubles(meta: Pick<Meta, 'get' | 'set' | 'remove'>): KeyTroubles {
  const read = (): z.output<typeof Kept> => Kept.parse(JSON.parse(meta.get(KEY) ?? '{}'));
  return {
    note({ provider, since, message }) {
      const kept = read();
      if (Object.hasOwn(kept, provider)) return false;
      meta.set(KEY, JSON.stringify({ ...kept, [provider]: { since, message } }));
      return true;
    },
    forget(provider) {
      const { [provider]: found, ...others } = read();
      if (found === undefined) return;
      if (Object.keys(others).length === 0) meta.remove(KEY);
      else meta.set(KEY, JSON.stringify(others));
    },
    all: () => Object.entries(read()).map(([provider, trouble]) => ({ provider, ...trouble })),
  };
}
