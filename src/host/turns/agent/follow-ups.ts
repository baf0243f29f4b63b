import type { TurnEvents } from '../../../sandbox/sandbox.ts';
import type { Turn } from '../../../store/store.ts';
import type { InstancePort, LogPort, StorePort, TimeZonePort } from '../../contracts/ports.ts';
import { promptOf } from './prompt.ts';
import { turnMessages } from './turn-messages.ts';

export interface FollowUps {
  /** Something was stored in a chat: it may be for the agent that works there. */
  wake(jid: string): void;
  /** Returns the callbacks by which a turn's agent tells that it takes follow-ups, and took one. */
  eventsOf(turn: Turn): Required<Pick<TurnEvents, 'onReady' | 'onAccepted'>>;
  /** The turn is over; what its agent has not taken waits for the next one. */
  close(turn: Turn): void;
}

type Open = {
  readonly turn: Turn;
  readonly send: Parameters<Required<TurnEvents>['onReady']>[0];
  /** The message that the agent was sent and has not taken so far. */
  offered: { readonly id: string; readonly upto: number } | null;
};

/**
 * Tells the agent that works in a chat what is asked there meanwhile.
 *
 * It stays a turn of its own in the store until the agent has taken it, and is part of the running
 * turn from then on. So whatever becomes of agent or host in between, one turn answers it.
 */
export function openFollowUps(
  options: StorePort & InstancePort & TimeZonePort & LogPort,
): FollowUps {
  const { store, instance, timeZone, log } = options;
  const openTurns = new Map<string, Open>();

  function offer(open: Open): void {
    if (open.offered !== null) return;
    const range = store.followUps.waiting(open.turn.id);
    if (range === null) return;
    const offered = { id: `upto-${range.upto}`, upto: range.upto };
    const text = promptOf(turnMessages(store, range, timeZone));
    if (open.send({ id: offered.id, text })) open.offered = offered;
  }

  function take(open: Open, id: string): void {
    const { turn, offered } = open;
    if (offered?.id !== id) return;
    open.offered = null;
    try {
      if (!store.followUps.take(turn.id, instance, offered.upto)) return;
      log.info('an agent took a follow-up', { turn: turn.id });
      offer(open);
    } catch (error) {
      // It stays a turn of its own, and is answered twice rather than never.
      log.error('a follow-up could not be stored', { turn: turn.id, error: String(error) });
    }
  }

  return {
    wake(jid) {
      const open = openTurns.get(jid);
      if (open !== undefined) offer(open);
    },
    eventsOf: (turn) => ({
      onReady(send) {
        const open: Open = { turn, send, offered: null };
        openTurns.set(turn.jid, open);
        offer(open);
      },
      onAccepted(id) {
        const open = openTurns.get(turn.jid);
        if (open?.turn.id === turn.id) take(open, id);
      },
    }),
    close({ jid, id }) {
      if (openTurns.get(jid)?.turn.id === id) openTurns.delete(jid);
    },
  };
}
