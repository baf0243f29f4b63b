import { createSignal, type Signal } from '../../lib/signal.ts';
import type { ChannelOf } from '../address-book.ts';
import type {
  ChannelsPort,
  ClockPort,
  IdPort,
  LogPort,
  MainChatPort,
  ProjectPort,
  SettingsPort,
  StorePort,
  TimeoutsPort,
  TimerPort,
} from '../contracts/ports.ts';
import { type Acknowledging, openAcknowledging } from './acknowledge.ts';
import { type Delivery, type DeliveryOptions, openDelivery } from './delivery.ts';
import { type GivenUp, openGivenUpNotices } from './given-up.ts';
import { type LiveAnswers, openLiveAnswers } from './live/live-answers.ts';
import { type Outgoing, openOutgoing } from './outgoing.ts';
import { type OutgoingFiles, openOutgoingFiles } from './outgoing-files.ts';

/** The way of messages out: into the outbox, to their channels, and what is told after that. */
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

export type OutboundOptions = StorePort &
  SettingsPort &
  ChannelsPort &
  ProjectPort &
  MainChatPort &
  ClockPort &
  IdPort &
  TimerPort &
  LogPort &
  TimeoutsPort &
  Pick<DeliveryOptions, 'pay'> & { readonly channelOf: ChannelOf };

/** Opens the way of messages out. */
export function openOutbound(options: OutboundOptions): Outbound {
  const { store, settings, channels, projectDir, mainChat } = options;
  const { now, newId, setTimer, log, timeouts, channelOf } = options;
  // Delivery itself queues a notice for the owner where it gives a message up.
  const queued = createSignal();
  const onQueued = queued.emit;

  const outgoing = openOutgoing({ store, channels, mainChat, now, newId, onQueued });
  const outgoingFiles = openOutgoingFiles({
    store,
    newId,
    projectDir,
    dataDir: settings.dataDir,
  });
  const acknowledging = openAcknowledging({ store, channelOf });
  const delivered = createSignal<string>();
  delivered.on(acknowledging.check);
  const live = openLiveAnswers({
    store,
    now,
    newId,
    setTimer,
    log,
    timeouts,
    channelOf,
    say: (jid, text, turnId) => outgoing.say(jid, text, { turnId, isProgress: true }),
  });
  delivered.on(live.delivered);
  const tellGivenUp = openGivenUpNotices({ store, channels, now, newId, onQueued });
  const delivery = openDelivery({
    store,
    channels,
    now,
    log,
    timeouts,
    outgoingFiles,
    pay: options.pay,
    quiet: live.quiet,
    onDelivered: delivered.emit,
    onGivenUp: tellGivenUp,
  });
  queued.on(delivery.wake);
  return { outgoing, outgoingFiles, delivery, delivered, acknowledging, live, tellGivenUp };
}
