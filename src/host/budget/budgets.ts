import type { PaidCall } from '../../model/metering/paying-turn.ts';
import { costOf, hasPrice } from '../../model/metering/price.ts';
import type { Model } from '../../model/model.ts';
import type { Admission, TokenCounts } from '../../model/tokens.ts';
import type { Group, Limits, Spending } from '../../store/store.ts';
import type { Charge } from '../../store/usage.ts';
import type {
  ClockPort,
  IdPort,
  LogPort,
  SettingsPort,
  StorePort,
  TimeZonePort,
} from '../contracts/ports.ts';
import { shareUsed } from './amount.ts';
import {
  type BudgetReport,
  createBudgetReport,
  limitsFor,
  limitsUnpriced,
} from './budget-report.ts';
import { localDay } from './local-day.ts';
import { ALL, noticesOf } from './notices.ts';
import { openReservations, type Reservations } from './reservations.ts';

/** Work that costs money: its name in `/budget`, and its price in millionths of a dollar. */
export type PaidWork = { readonly name: string; readonly microUsd: number };

/** Budgets of a day, for all groups together and for each. */
export interface Budgets {
  /** Tells whether a folder may spend nothing more today. */
  isUsedUp(folder: string): boolean;
  /**
   * Lets a call of the model through, or not. Never rejects. While calls are under way that may use
   * up what is left, it waits until they are charged: a lone call can pass the limit, several together
   * cannot pass it by more than one of them.
   */
  admit(folder: string, call: PaidCall, signal: AbortSignal): Promise<Admission>;
  /**
   * Charges a folder for work that is no call of a model, such as a voice note that is heard. False, and nothing
   * charged, where it may spend nothing more today. What costs nothing may always be done.
   */
  pay(folder: string, work: PaidWork): boolean;
  /** Says in a chat that nothing more comes today; once a day, however often it is called. */
  sayPaused(group: Group): void;
  /** Sets what a folder may spend from now on; null is the default. */
  set(folder: string, limits: Limits | null): void;
  limitsOf(folder: string): Limits;
  report(): BudgetReport;
}

export type BudgetOptions = StorePort &
  SettingsPort &
  ClockPort &
  IdPort &
  TimeZonePort &
  LogPort & {
    /** Puts a text into the outbox for the owner. */
    readonly queue: (text: string) => void;
    readonly onQueued: () => void;
  };

/** Opens the budgets. The store counts the spending, so it survives every process. */
export function openBudgets(options: BudgetOptions): Budgets {
  const { store, settings, now, timeZone, log } = options;
  const { budget } = settings;
  const totalLimits: Limits = { microUsd: budget.totalMicroUsd, tokens: null };
  const reservations: Reservations = openReservations();
  const notices = noticesOf(options);
  const today = (): string => localDay(now(), timeZone);
  const limitsOf = (folder: string): Limits => limitsFor(store.budgets.of(folder), budget);

  function limitsToday(folder: string, spent: Spending, asksUnpriced = false): Limits {
    const limits = limitsOf(folder);
    return asksUnpriced || spent.unpricedCalls > 0 ? limitsUnpriced(limits, budget) : limits;
  }

  /** Tells whether anything is left beside charged and `held` amounts. */
  function hasRoom(
    folder: string,
    held: Reservations['reservedOf'],
    asksUnpriced: boolean,
  ): boolean {
    const day = today();
    const spent = store.usage.of(folder, day);
    const limits = limitsToday(folder, spent, asksUnpriced);
    const own = shareUsed(sum(spent, held(folder)), limits);
    const all = shareUsed(sum(store.usage.total(day), held(null)), totalLimits);
    return own < 1 && all < 1;
  }

  const isUsedUp = (folder: string, asksUnpriced = false): boolean =>
    !hasRoom(folder, reservations.unwrittenOf, asksUnpriced);

  async function admit(
    folder: string,
    { model, atMost }: PaidCall,
    signal: AbortSignal,
  ): Promise<Admission> {
    const asksUnpriced = !hasPrice(model);
    while (!signal.aborted && !isUsedUp(folder, asksUnpriced)) {
      if (hasRoom(folder, reservations.reservedOf, asksUnpriced)) {
        const reservation = reservations.reserve({ folder, ...amountOf(model, atMost) });
        return {
          kind: 'admitted',
          charge: (counts) => reservation.charge(() => charge(folder, model, counts)),
        };
      }
      await reservations.change(signal);
    }
    return { kind: 'refused', message: 'The budget for today is used up.' };
  }

  function pay(folder: string, { name, microUsd }: PaidWork): boolean {
    if (microUsd === 0) return true;
    if (isUsedUp(folder)) return false;
    const amount = { tokens: 0, microUsd };
    const reservation = reservations.reserve({ folder, ...amount });
    reservation.charge(() =>
      write(folder, { ...NO_TOKENS, model: name, microUsd }) ? null : amount,
    );
    return true;
  }

  function amountOf(model: Model, counts: TokenCounts) {
    const { inputTokens, cacheWriteTokens, cacheReadTokens, outputTokens } = counts;
    const tokens = inputTokens + cacheWriteTokens + cacheReadTokens + outputTokens;
    return { tokens, microUsd: costOf(model, counts) ?? 0 };
  }

  /** @returns what could not be written */
  function charge(folder: string, model: Model, counts: TokenCounts | null) {
    if (counts === null) return null;
    const spent = { ...counts, model: model.name, microUsd: costOf(model, counts) };
    return write(folder, spent) ? null : amountOf(model, counts);
  }

  /** @returns whether it could be written */
  function write(folder: string, spent: Omit<Charge, 'day' | 'folder'>): boolean {
    const day = today();
    try {
      store.usage.add({ ...spent, day, folder });
    } catch (error) {
      log.error('what was spent could not be written', { folder, error: String(error) });
      return false;
    }
    tell(folder, day);
    return true;
  }

  /**
   * Sends notices, after the charge and apart from it: one that cannot be sent now is sent with the next
   * one.
   */
  function tell(folder: string, day: string): void {
    try {
      const spent = store.usage.of(folder, day);
      notices.tell(folder, day, { spent, limits: limitsToday(folder, spent) });
      notices.tell(ALL, day, { spent: store.usage.total(day), limits: totalLimits });
      options.onQueued();
    } catch (error) {
      log.error('the owner could not be told of a budget', { folder, error: String(error) });
    }
  }

  return {
    isUsedUp: (folder) => isUsedUp(folder),
    admit,
    pay,
    limitsOf,
    sayPaused(group) {
      notices.sayPaused(group, today());
      options.onQueued();
    },
    set(folder, limits) {
      store.transaction(() => {
        store.budgets.set(folder, limits);
        store.budgets.forgetNotices(folder, today());
      });
      reservations.changed();
    },
    report: () =>
      createBudgetReport({
        day: today(),
        budget,
        usage: store.usage,
        limitsOf: store.budgets.of,
        groups: store.groups.all(),
      }),
  };
}

const NO_TOKENS = { inputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 0 };

type Amount = Pick<Spending, 'microUsd' | 'tokens'>;

function sum(one: Amount, other: Amount): Amount {
  return { microUsd: one.microUsd + other.microUsd, tokens: one.tokens + other.tokens };
}
