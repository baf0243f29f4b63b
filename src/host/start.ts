import type { Asking } from './asking/asking.ts';
import type { Resumption } from './contracts/command.ts';
import type {
  ChannelsPort,
  ClockPort,
  InstancePort,
  LogPort,
  MainChatPort,
  ProjectPort,
  SettingsPort,
  StorePort,
  TimeoutsPort,
} from './contracts/ports.ts';
import { completeFolder, makeGroupFolder, makeSharedFolder } from './groups/group-folder.ts';
import { registerTerminal, updateReachability } from './groups/owners-chats.ts';
import type { Inbound } from './inbound-path/inbound.ts';
import type { Outbound } from './outbound/outbound.ts';
import type { Services } from './services/services.ts';
import { adoptOrphanedTurns } from './turns/adopt-orphaned-turns.ts';
import type { Turns } from './turns/turns.ts';

export type StartOptions = StorePort &
  SettingsPort &
  ChannelsPort &
  ProjectPort &
  MainChatPort &
  InstancePort &
  ClockPort &
  LogPort &
  TimeoutsPort & {
    readonly asking: Asking;
    readonly outbound: Outbound;
    readonly turns: Turns;
    readonly services: Services;
    readonly inbound: Inbound;
    /** A problem that the owner has to know of, in their own chats; null for none. */
    readonly trouble: string | null;
  };

/**
 * Starts the host after an earlier process: it takes over that process's turns, then connects channels, and finishes
 * commands that were begun once the owner can be told.
 */
export async function startHost(options: StartOptions, resumption: Resumption): Promise<void> {
  const { outbound, turns, trouble } = options;
  const { outgoing } = outbound;
  const { turnQueue, commandRunner } = turns;
  registerTerminal(options);
  updateReachability(options);
  options.asking.start();
  outbound.outgoingFiles.sweep();
  completeFolders(options);
  const { toEnd, toResume, unsent } = adoptOrphanedTurns(options);
  unsent.forEach(outbound.tellGivenUp);
  for (const { turn, result } of toEnd) turnQueue.start(turn, async () => result);
  turnQueue.wake();
  options.services.start();
  await options.inbound.connect();
  if (trouble !== null) outgoing.tellOwnersChats(trouble);
  if (resumption.rolledBack !== null && toResume.length === 0) {
    outgoing.tellOwner(`The new version was taken back: ${resumption.rolledBack}`);
  }
  for (const turn of toResume) {
    turnQueue.start(turn, () => commandRunner.resume(turn, resumption));
  }
  outbound.acknowledging.check(options.mainChat.jid);
}

function completeFolders({ store, settings, projectDir, log }: StartOptions): void {
  const places = { projectDir, dataDir: settings.dataDir };
  for (const { folder } of store.groups.all()) {
    completeFolder(log, folder, () => makeGroupFolder(places, folder));
  }
  completeFolder(log, 'global', () => makeSharedFolder(places));
}
