import { seededRandom } from '../../packages/merge/testing/random.ts';

/** Something that happens to a part of the run, once so many turns have begun. */
export type ChaosEvent = { readonly atTurn: number; readonly delayMs: number } & (
  | {
      readonly kind: 'partition';
      readonly machine: number;
      readonly how: 'cut' | 'silent';
      readonly ms: number;
    }
  | { readonly kind: 'worker'; readonly machine: number; readonly pauseMs: number }
  /** The assistant's own process, or with its supervisor and the server, as in a power cut. */
  | { readonly kind: 'host' | 'power' | 'server' }
  | { readonly kind: 'dockerd'; readonly pauseMs: number }
);

export type PlanSize = {
  readonly turns: number;
  readonly kills: number;
  readonly partitions: number;
  readonly machines: number;
  readonly hasDocker: boolean;
  /** The longest of the short partitions. */
  readonly longestMs: number;
  /** So many of the partitions take three to ten minutes. */
  readonly long: number;
};

const LONG_MS = 180_000;
const LONGEST_MS = 600_000;

/** Returns the events of a run in their order; the same for the same seed. */
export function planChaos(seed: number, size: PlanSize): readonly ChaosEvent[] {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const kinds = ['worker', 'host', 'server', 'worker', 'power'] as const;
  const events: ChaosEvent[] = [];
  const add = (event: ChaosEvent): void => void events.push(event);
  const when = () => ({ atTurn: 1 + below(size.turns), delayMs: below(2_500) });
  for (let nth = 0; nth < size.kills; nth += 1) {
    const kind =
      size.hasDocker && nth % 6 === 5 ? 'dockerd' : (kinds[nth % kinds.length] ?? 'host');
    const pauseMs = 200 + below(3_000);
    if (kind === 'worker') add({ ...when(), kind, machine: below(size.machines), pauseMs });
    else if (kind === 'dockerd') add({ ...when(), kind, pauseMs });
    else add({ ...when(), kind });
  }
  for (let nth = 0; nth < size.partitions; nth += 1) {
    const how = random() < 0.5 ? 'cut' : 'silent';
    if (nth < size.long) {
      // In the first third, so that turns go on beside it and after it.
      const atTurn = 1 + below(size.turns / 3);
      const ms = LONG_MS + below(LONGEST_MS - LONG_MS);
      add({ atTurn, delayMs: 0, kind: 'partition', machine: nth % size.machines, how, ms });
      continue;
    }
    // As many short ones as long ones, by their logarithm.
    const ms = Math.round(1_000 * (size.longestMs / 1_000) ** random());
    add({ ...when(), kind: 'partition', machine: below(size.machines), how, ms });
  }
  return events.toSorted((one, other) => one.atTurn - other.atTurn);
}
