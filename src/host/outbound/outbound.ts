import { createSignal, type Signal } from '../../lib/signal.ts';
import type { ChannelOf } from '../address-book.ts';
import type { Ports } from '../contracts/ports.ts';
import { type Acknowledging, openAcknowledging } from './acknowledge.ts';
import { type Delivery, type DeliveryOptions, openDelivery } from './delivery.ts';
import { type GivenUp, openGivenUpNotices } from './given-up-notices.ts';
import { type LiveAnswers, openLiveAnswers } from './live/live-answers.ts';
import { type Outgoing, openOutgoing } from './outgoing.ts';
import { type OutgoingFiles, openOutgoingFiles } from './outgoing-files.ts';

/** The way of messages out: into the outbox, to their channels, and the reports afterwards. */
export type Outbound = {
  readonly outgoing: Outgoing;
  readonly outgoingFiles: OutgoingFiles;
  readonly delivery: Delivery;
  /** A message of this chat left the outbox, one way or the other. */
  readonly delivered: Signal<string>;
  readonly acknowledging: Acknowledging;
  /** Answers that chats see while they are written. */
  readonly live: LiveAnswers;
  readonly tellGivenUp: (message: GivenUp) => void;
};

export type OutboundOptions = Pick<DeliveryOptions, 'pay'> & {
  readonly ports: Ports;
  readonly channelOf: ChannelOf;
};

/** Opens the way of messages out. */
export function openOutbound({ ports, channelOf, pay }: OutboundOptions): Outbound {
  const { dataDir } = ports.settings;
  // Delivery itself queues a notice for the owner where it gives a message up.
  const queued = createSignal();
  const onQueued = queued.emit;

  const outgoing = openOutgoing({ ...ports, onQueued });
  const outgoingFiles = openOutgoingFiles({ ...ports, dataDir });
  const acknowledging = openAcknowledging({ ...ports, channelOf });
  const delivered = createSignal<string>();
  delivered.on(acknowledging.check);
  const live = openLiveAnswers({
    ...ports,
    channelOf,
    say: (jid, text, turnId) => outgoing.say(jid, text, { turnId, isProgress: true }),
  });
  delivered.on(live.delivered);
  const tellGivenUp = openGivenUpNotices({ ...ports, onQueued });
  const delivery = openDelivery({
    ...ports,
    outgoingFiles,
    pay,
    quiet: live.quiet,
    onDelivered: delivered.emit,
    onGivenUp: tellGivenUp,
  });
  queued.on(delivery.wake);
  return { outgoing, outgoingFiles, delivery, delivered, acknowledging, live, tellGivenUp };
}
