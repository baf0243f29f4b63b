import type { Group, Spending, Store, TurnRun } from '../../store/store.ts';
import type { ClockPort, StorePort, TimeZonePort } from '../contracts/ports.ts';
import { OWN_CHATS } from './budget-report.ts';
import { localDay } from './day.ts';

/** Spending of today and of the newest turn, of one chat or, in the owner's own chats, of all. */
export type CostReport = {
  readonly day: string;
  /** The chat's newest turn of an agent that has ended; null where there is none. */
  readonly lastTurn: TurnRun | null;
  /** This chat, all that share its folder together. */
  readonly here: Spending;
  /** Null where only this chat is told of. */
  readonly all: {
    readonly total: Spending;
    /** The chats that have cost something today, the dearest first. */
    readonly chats: readonly (Spending & { readonly name: string })[];
  } | null;
  /** Of all chats, or of this one. */
  readonly models: ReturnType<Store['usage']['byModel']>;
};

/** Returns what is told of costs in a chat: the owner's own chats are told of all others. */
export function createCostReport(
  { store, now, timeZone }: StorePort & ClockPort & TimeZonePort,
  { folder, isMain }: Pick<Group, 'folder' | 'isMain'>,
): CostReport {
  const day = localDay(now(), timeZone);
  return {
    day,
    lastTurn: store.turnRuns.newest(1, folder)[0] ?? null,
    here: store.usage.of(folder, day),
    all: isMain ? { total: store.usage.total(day), chats: chatsOf(store, day) } : null,
    models: store.usage.byModel(day, isMain ? null : folder),
  };
}

function chatsOf(store: Store, day: string) {
  return store.usage.byFolder(day).map(({ folder, ...spent }) => {
    const name = folder === 'main' ? OWN_CHATS : store.groups.byFolder(folder)?.name;
    return { ...spent, name: name ?? folder };
  });
}
