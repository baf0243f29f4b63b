import type { FollowUp, TurnEvents } from '../../../sandbox/sandbox.ts';
import type { Turn } from '../../../store/store.ts';
import type { InstancePort, LogPort, StorePort, TimeZonePort } from '../../contracts/ports.ts';
import { promptOf, turnMessages } from './prompt.ts';
import { fetchPictures, messagesWithPictures, type TurnPicturesOptions } from './turn-pictures.ts';

export interface FollowUps {
  /** Something was stored in a chat: it may be for the agent that works there. */
  wake(jid: string): void;
  /** Returns the callbacks by which a turn's agent tells that it takes follow-ups, and took one. */
  eventsOf(turn: Turn): FollowUpEvents;
  /** The turn is over; what its agent has not taken waits for the next one. */
  close(turn: Turn): void;
}

/** `onReady` is also told whether the turn's model is shown pictures. */
export type FollowUpEvents = {
  readonly onReady: (send: OpenTurn['send'], seesPictures: boolean) => void;
  readonly onAccepted: Required<TurnEvents>['onAccepted'];
};

type OpenTurn = {
  readonly turn: Turn;
  readonly send: (followUp: FollowUp) => boolean;
  readonly seesPictures: boolean;
  /** The message that the agent was sent and has not taken so far. */
  offered: { readonly id: string; readonly upto: number } | null;
  /** Pictures of the next one are on their way. */
  isFetching: boolean;
};

/**
 * Tells the agent that works in a chat what people ask there meanwhile.
 *
 * Such a message stays a turn of its own in the store until the agent has taken it, and is part of the running turn
 * from then on. So exactly one turn answers it, whatever happens to agent or host in between.
 */
export function openFollowUps(
  options: StorePort & InstancePort & TimeZonePort & LogPort & TurnPicturesOptions,
): FollowUps {
  const { store, instance, timeZone, log } = options;
  const openTurns = new Map<string, OpenTurn>();

  function offer(open: OpenTurn): void {
    if (open.offered !== null || open.isFetching) return;
    const range = store.followUps.waiting(open.turn.id);
    if (range === null) return;
    const parts = turnMessages(store, range, timeZone);
    const send = (pictures: FollowUp['pictures']) => {
      const offered = { id: `upto-${range.upto}`, upto: range.upto };
      const about = pictures === undefined ? {} : { pictures };
      if (open.send({ id: offered.id, text: promptOf(parts), ...about })) open.offered = offered;
    };
    const group = store.groups.byJid(open.turn.jid);
    const wanted = open.seesPictures
      ? messagesWithPictures(options, open.turn.jid, parts.messages)
      : [];
    if (wanted.length === 0 || group === null) {
      send(undefined);
      return;
    }
    open.isFetching = true;
    void fetchPictures(options, group, wanted).then((pictures) => {
      open.isFetching = false;
      // What was said meanwhile comes as the next one.
      if (openTurns.get(open.turn.jid) === open) send(pictures);
    });
  }

  function take(open: OpenTurn, id: string): void {
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
      onReady(send, seesPictures) {
        const open: OpenTurn = { turn, send, seesPictures, offered: null, isFetching: false };
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
