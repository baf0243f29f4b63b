import type { Group, Spending, Store, TurnRun } from '../../store/store.ts';
import type { ClockPort, SettingsPort, StorePort, TimeZonePort } from '../contracts/ports.ts';
import { limitsFor, limitsUnpriced, OWN_CHATS } from './budget-report.ts';
import { localDay } from './local-day.ts';

/** Spending of today and of the newest turn, of one chat or, in the owner's own chats, of all. */
export type CostReport = {
  readonly day: string;
  /** The chat's newest turn of an agent that has ended; null where there is none. */
  readonly lastTurn: TurnRun | null;
  /** This chat, all that share its folder together. */
  readonly here: Spending & Limited;
  /** The tokens that models read today, of all chats or of this one. */
  readonly read: ReturnType<Store['usage']['read']>;
  /** Null where only this chat is told of. */
  readonly all: {
    readonly total: Spending;
    /** The chats that have cost something today, the dearest first. */
    readonly chats: readonly (Spending & Limited & { readonly name: string })[];
  } | null;
  /** Spending by model, of all chats or of this one. */
  readonly models: ReturnType<Store['usage']['byModel']>;
};

/** The most tokens that a chat may use in a day; null where nothing limits them. */
type Limited = { readonly mostTokens: number | null };

type CostPorts = StorePort & SettingsPort & ClockPort & TimeZonePort;

/** Creates the report of costs for a chat. The owner's own chats see the costs of all. */
export function createCostReport(
  ports: CostPorts,
  { folder, isMain }: Pick<Group, 'folder' | 'isMain'>,
): CostReport {
  const { store, now, timeZone } = ports;
  const day = localDay(now(), timeZone);
  const here = store.usage.of(folder, day);
  return {
    day,
    lastTurn: store.turnRuns.newest(1, folder)[0] ?? null,
    here: { ...here, mostTokens: mostTokensOf(ports, folder, here) },
    read: store.usage.read(day, isMain ? null : folder),
    all: isMain ? { total: store.usage.total(day), chats: chatsOf(ports, day) } : null,
    models: store.usage.byModel(day, isMain ? null : folder),
  };
}

function mostTokensOf(
  { store, settings }: CostPorts,
  folder: string,
  spent: Spending,
): number | null {
  const limits = limitsFor(store.budgets.of(folder), settings.budget);
  return (spent.unpricedCalls > 0 ? limitsUnpriced(limits, settings.budget) : limits).tokens;
}

function chatsOf(ports: CostPorts, day: string) {
  const { store } = ports;
  return store.usage.byFolder(day).map(({ folder, ...spent }) => {
    const name = folder === 'main' ? OWN_CHATS : store.groups.byFolder(folder)?.name;
    return { ...spent, name: name ?? folder, mostTokens: mostTokensOf(ports, folder, spent) };
  });
}
