import type { BudgetSettings } from '../../config.ts';
import type { Limits, Spending } from '../../store/store.ts';
import { shareUsed, spentOf } from './amount.ts';

/** Spending of one folder today, and its limits. */
export type FolderReport = {
  readonly folder: string;
  /** The group's name for people. */
  readonly name: string;
  readonly spent: Spending;
  readonly limits: Limits;
  /** True if the owner has set its budget, instead of the default. */
  readonly isOwn: boolean;
};

/** Today's spending, and its limits. */
export type BudgetReport = {
  readonly day: string;
  readonly total: Spending;
  readonly totalLimits: Limits;
  /** The registered groups, and folders of former ones that have cost something today; the dearest first. */
  readonly folders: readonly FolderReport[];
  /** Names of models that were asked today and have no known price. */
  readonly unpriced: readonly string[];
};

/** The source of the numbers: the assistant's store, or a command's read-only connection. */
export type BudgetReportSource = {
  readonly day: string;
  readonly budget: BudgetSettings;
  readonly usage: {
    total(day: string): Spending;
    byFolder(day: string): readonly (Spending & { readonly folder: string })[];
    byModel(
      day: string,
      folder: null,
    ): readonly { readonly model: string; readonly unpricedCalls: number }[];
  };
  readonly limitsOf: (folder: string) => Limits | null;
  readonly groups: readonly { readonly folder: string; readonly name: string }[];
};

/** The name of all the owner's chats, which have one budget. */
export const OWN_CHATS = 'Your own chats';

const NOTHING: Spending = { tokens: 0, microUsd: 0, unpricedCalls: 0 };

/** Returns the limits of a folder: its own, else the default. */
export function limitsFor(own: Limits | null, budget: BudgetSettings): Limits {
  return own ?? { microUsd: budget.microUsd, tokens: budget.tokens };
}

/**
 * Returns the limits of a folder on a day on which it asks a model without a known price: its money cannot be counted, so
 * its tokens are limited.
 */
export function limitsUnpriced(limits: Limits, { unpricedTokens }: BudgetSettings): Limits {
  const isMoneyOnly = limits.microUsd !== null && limits.tokens === null;
  return isMoneyOnly ? { ...limits, tokens: unpricedTokens } : limits;
}

/** Returns the report of a day. */
export function createBudgetReport({
  day,
  budget,
  usage,
  limitsOf,
  groups,
}: BudgetReportSource): BudgetReport {
  const spending = usage.byFolder(day);
  const names = new Map(groups.map(({ folder, name }) => [folder, name]));
  const spenders = spending.map(({ folder }) => folder);
  const folders = [...new Set([...spenders, ...names.keys()])].map((folder) => {
    const own = limitsOf(folder);
    const limits = limitsFor(own, budget);
    const { tokens, microUsd, unpricedCalls } =
      spending.find((each) => each.folder === folder) ?? NOTHING;
    return {
      folder,
      name: folder === 'main' ? OWN_CHATS : (names.get(folder) ?? folder),
      spent: { tokens, microUsd, unpricedCalls },
      limits: unpricedCalls > 0 ? limitsUnpriced(limits, budget) : limits,
      isOwn: own !== null,
    };
  });
  const totalLimits = { microUsd: budget.totalMicroUsd, tokens: null };
  const unpriced = usage.byModel(day, null).filter(({ unpricedCalls }) => unpricedCalls > 0);
  return {
    day,
    total: usage.total(day),
    totalLimits,
    folders,
    unpriced: unpriced.map(({ model }) => model),
  };
}

/** Groups that have used more than this of their budget are named where space is short. */
const NOTABLE = 0.5;

/** Returns one line: the spending of all groups, and the groups that have used more than half of their limit. */
export function budgetLine({ total, totalLimits, folders, unpriced }: BudgetReport): string {
  const notable = folders
    .filter(({ spent, limits }) => total.tokens > 0 && shareUsed(spent, limits) > NOTABLE)
    .map(({ name, spent, limits }) => `${name} ${spentOf(spent, limits)}`);
  const unknown = unpriced.length === 0 ? [] : [`price unknown: ${unpriced.join(', ')}`];
  return [`${spentOf(total, totalLimits)} today`, ...notable, ...unknown].join('; ');
}
