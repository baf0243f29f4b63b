import type { Turn } from '../../store/store.ts';
import type { ClockPort, InstancePort, StorePort, TimeoutsPort } from '../contracts/ports.ts';
import type { GivenUp } from '../outbound/given-up-notices.ts';
import type { TurnResult } from './turn-result.ts';
import { gaveUp } from './turn-result.ts';

/** A turn that brought the assistant down this often is not run again. */
const MAX_ATTEMPTS = 3;

export type OrphanedTurns = {
  /** Adopted: to be ended at once, with this. */
  readonly toEnd: readonly { readonly turn: Turn; readonly result: TurnResult }[];
  /** Adopted commands, to be finished when the channels are connected. */
  readonly toResume: readonly Turn[];
  /** Messages that ended two processes in a row while they were sent: they are not sent again. */
  readonly unsent: readonly GivenUp[];
};

/**
 * Takes over the turns of another process. That process is dead, so its leases are void: only one process at a time
 * runs on a database. Agents' turns run again and commands continue; either is given up after three attempts. Sends
 * in progress have an unknown outcome. The recorded steps of earlier runs stay theirs.
 */
export function adoptOrphanedTurns({
  store,
  instance,
  now,
  timeouts,
}: StorePort & InstancePort & ClockPort & TimeoutsPort): OrphanedTurns {
  const lease = { owner: instance, until: now() + timeouts.leaseMs };
  const unsent = store.outbox.recover(now()).map((it) => ({ ...it, outcome: 'unknown' as const }));
  store.turnRuns.addCutOff();
  const left = store.turns.leftBy({ not: instance });
  const toEnd: { turn: Turn; result: TurnResult }[] = [];
  const toResume: Turn[] = [];
  for (const turn of left) {
    if (turn.attempts >= MAX_ATTEMPTS) {
      store.turns.adopt(turn.id, lease);
      toEnd.push({ turn, result: gaveUp('CRASHED', GAVE_UP) });
    } else if (turn.kind === 'command') {
      store.turns.adopt(turn.id, lease);
      toResume.push(turn);
    } else {
      store.turns.requeue(turn.id);
    }
  }
  return { toEnd, toResume, unsent };
}

const GAVE_UP =
  'The assistant ended three times while it worked on this, so it has given up. Try to ask in other words.';
