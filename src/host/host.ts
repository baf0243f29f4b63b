import type { Channel } from '../channels/channel.ts';
import type { Task, Turn } from '../store/store.ts';
import { openAsking } from './asking/asking.ts';
import { attachmentFetcher } from './attachments/attachments.ts';
import { openBudgets } from './budget/budgets.ts';
import type { Resumption } from './contracts/command.ts';
import type { HostOptions } from './contracts/options.ts';
import { makeGroupFolder, makeSharedFolder } from './groups/group-folder.ts';
import { ownersChats, registerTerminal, updateReachability } from './groups/owners-chats.ts';
import { openRegistry } from './groups/registry.ts';
import { channelEvents } from './inbound-path/channel-events.ts';
import { openChannelWatch } from './inbound-path/channel-watch.ts';
import { openLateDigest } from './inbound-path/late-digest.ts';
import { openStrangerDigest } from './inbound-path/stranger-digest.ts';
import { openAcknowledging } from './outbound/acknowledge.ts';
import { openDelivery } from './outbound/delivery.ts';
import { openGivenUpNotices } from './outbound/given-up.ts';
import { openOutgoingFiles } from './outbound/outgoing-files.ts';
import { openDueTasks } from './scheduler/due-tasks.ts';
import { openTaskBook } from './scheduler/task-book.ts';
import { taskResult } from './scheduler/task-result.ts';
import { runServices } from './services/services.ts';
import { shutdown } from './shutdown.ts';
import { adoptOrphanedTurns } from './turns/adopt-orphaned-turns.ts';
import { openFollowUps } from './turns/agent/follow-ups.ts';
import { openTurnQueue } from './turns/turn-queue.ts';
import type { TurnResult } from './turns/turn-result.ts';
import { type MessageAbout, openTurnRunners } from './turns/turn-runners.ts';

export interface Host {
  /** Takes over turns that were left, connects all channels, and resolves when each has reported its state. */
  start(resumption: Resumption): Promise<void>;
  /** Says something in all of the owner's chats that can be reached. */
  tell(text: string): void;
  /** Lets running turns end for `graceMs`, gives the others back, and leaves, in a bounded time. */
  stop(graceMs: number): Promise<void>;
}

/** Opens the path of a message: stored, a turn, an answer, sent. Events move it on; nothing polls. */
export function openHost(options: HostOptions): Host {
  const { store, channels, now, newId, log, timeouts } = options;
  const places = { projectDir: options.projectDir, dataDir: options.settings.dataDir };

  const acknowledging = openAcknowledging({ store, channelOf });
  const outgoingFiles = openOutgoingFiles({ ...options, ...places });
  const onDelivered = acknowledging.check;
  const onGivenUp = openGivenUpNotices({ ...options, onQueued: () => delivery.wake() });
  const delivery = openDelivery({ ...options, outgoingFiles, onDelivered, onGivenUp });
  const toTell = (turn: Turn, result: TurnResult) => taskResult(store, turn, result);
  const stopAgent = options.sandbox.stop;
  const turnQueue = openTurnQueue({
    ...options,
    runAgent: (turn) => runners.runAgent(turn),
    runCommand: (turn) => runners.runCommand(turn),
    stopAgent,
    toTell,
    onEnded,
  });
  const followUps = openFollowUps(options);
  const onFired = () => turnQueue.wake();
  const dueTasks = openDueTasks({ ...options, onFired, onBroken });
  const tasks = openTaskBook({ ...options, onChanged: dueTasks.changed, onFired });
  const services = runServices({ ...options, dueTasks, onQueued: onFired });
  const forgetChat = (jid: string) => {
    outgoingFiles.sweep();
    channelOf(jid)?.forgetChat?.(jid);
  };
  const registry = openRegistry({ ...options, addressOf, stopAgent, forgetChat });
  const fetchAttachment = attachmentFetcher({ ...options, channelOf });
  const toOwner = { queue: queueForOwner, onQueued: delivery.wake };
  const strangers = openStrangerDigest({ ...options, ...toOwner });
  const budgets = openBudgets({ ...options, ...toOwner });
  const late = openLateDigest({ ...options, ...toOwner });
  const watch = openChannelWatch({ ...options, say });
  const asking = openAsking({ ...options, onQueued: delivery.wake });
  const runners = openTurnRunners({
    ...options,
    asking,
    outgoingFiles,
    budgets,
    registry,
    services: services.report,
    pages: options.http.address,
    tasks,
    addressOf,
    channelOf,
    fetchAttachment,
    meanwhile: followUps,
    say,
    retryFailed,
    cancelTurns: turnQueue.cancel,
  });

  function say(jid: string, text: string, about: MessageAbout = {}): void {
    store.outbox.add({ messageId: newId(), jid, text, ...about }, now());
    delivery.wake();
  }

  function retryFailed(): number {
    const turns = store.turns.failed();
    for (const turn of turns) store.turns.requeue(turn.id);
    turnQueue.wake();
    return turns.length;
  }

  function onEnded(turn: Turn, result: TurnResult): void {
    delivery.wake();
    if (result.kind === 'suspended') options.requestRestart();
    else acknowledging.ended(turn);
    asking.wake();
  }

  function onBroken({ id, folder }: Task, reason: string): void {
    const text = `Task ${id} cannot run any more and was paused: ${reason}`;
    const group = store.groups.byFolder(folder);
    if (group === null || group.isMain) tellOwner(text);
    else say(group.jid, text);
  }

  function tellOwner(text: string): void {
    queueForOwner(text);
    delivery.wake();
  }

  /** For what stops everything: wherever the owner looks first, they find it. */
  function tellOwnersChats(text: string): void {
    for (const { jid } of ownersChats(options)) say(jid, text);
  }

  function queueForOwner(text: string): void {
    const jid = ownersChats(options)[0]?.jid ?? options.mainChat.jid;
    store.outbox.add({ messageId: newId(), jid, text }, now());
  }

  /** A folder that cannot be made is logged, so that other chats still get answers. */
  function complete(folder: string, make: () => void): void {
    try {
      make();
    } catch (error) {
      log.warn('the folder of a group is not complete', { folder, error: String(error) });
    }
  }

  function channelOf(jid: string): Channel | undefined {
    return channels.find((channel) => channel.ownsJid(jid));
  }

  function addressOf(typed: string) {
    for (const channel of channels) {
      const jid = channel.addressOf?.(typed) ?? null;
      if (jid !== null) return { channel: channel.name, jid };
    }
    return null;
  }

  const eventsOf = channelEvents({
    ...options,
    onStored(jids) {
      turnQueue.wake();
      jids.forEach(followUps.wake);
      asking.wake();
      delivery.wake();
      // After the channel has acknowledged: it must know of the message before it hears of its end.
      setImmediate(() => jids.forEach(acknowledging.check));
    },
    onStranger: strangers.wake,
    tellOwner,
    onLate: late.wake,
    onStatus: watch.note,
    onReady: delivery.wake,
  });

  async function connect(channel: Channel): Promise<void> {
    const { promise: isLate, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timeouts.connectTimeoutMs);
    await Promise.race([channel.connect(eventsOf(channel)), isLate]);
    clearTimeout(timer);
    delivery.wake();
  }

  return {
    async start(resumption) {
      registerTerminal(options);
      updateReachability(options);
      asking.start();
      outgoingFiles.sweep();
      for (const { folder } of store.groups.all())
        complete(folder, () => makeGroupFolder(places, folder));
      complete('global', () => makeSharedFolder(places));
      const { toEnd, toResume, unsent } = adoptOrphanedTurns(options);
      unsent.forEach(onGivenUp);
      for (const { turn, result } of toEnd) turnQueue.start(turn, async () => result);
      turnQueue.wake();
      services.start();
      await Promise.all(channels.map(connect));
      strangers.wake();
      late.wake();
      if (options.trouble !== null) tellOwnersChats(options.trouble);
      if (resumption.rolledBack !== null && toResume.length === 0) {
        tellOwner(`The new version was taken back: ${resumption.rolledBack}`);
      }
      for (const turn of toResume) {
        turnQueue.start(turn, () => runners.resumeCommand(turn, resumption));
      }
      acknowledging.check(options.mainChat.jid);
    },
    tell: tellOwnersChats,
    async stop(graceMs) {
      const servicesEnded = services.stop().then(options.http.close);
      asking.stop();
      strangers.stop();
      late.stop();
      watch.stop();
      await Promise.all([servicesEnded, shutdown({ ...options, turnQueue, delivery, graceMs })]);
      acknowledging.stop();
    },
  };
}
