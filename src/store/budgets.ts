import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** What may be spent in a day; null is without a limit. */
export type Limits = { readonly microUsd: number | null; readonly tokens: number | null };

/**
 * What is said once a day about a folder's budget: to the owner that it is nearly and that it is fully
 * used, and to the chat that nothing more comes.
 */
export type BudgetNotice = 'near' | 'spent' | 'paused';

/** What the owner allows single folders, and what was said about it. */
export interface Budgets {
  /** Null where the default counts. */
  of(folder: string): Limits | null;
  /** Sets what a folder may spend, or with null leaves it to the default again. */
  set(folder: string, limits: Limits | null): void;
  /** True the first time that it is asked for this folder, day and notice. */
  notice(folder: string, day: string, notice: BudgetNotice): boolean;
  /** What is said of a folder on a day may be said again: its budget is another. */
  forgetNotices(folder: string, day: string): void;
}

const Row = z
  .object({ micro_usd: z.int().nullable(), tokens: z.int().nullable() })
  .transform(({ micro_usd, tokens }) => ({ microUsd: micro_usd, tokens }));

export function budgetsOf(database: Database): Budgets {
  const set = database.prepare(`
    INSERT INTO budgets (folder, micro_usd, tokens) VALUES (:folder, :microUsd, :tokens)
    ON CONFLICT (folder) DO UPDATE SET micro_usd = :microUsd, tokens = :tokens`);
  const unset = database.prepare('DELETE FROM budgets WHERE folder = ?');
  const notice = database.prepare(`
    INSERT INTO budget_notices (day, folder, kind) VALUES (:day, :folder, :kind)
    ON CONFLICT DO NOTHING`);
  const forget = database.prepare(
    'DELETE FROM budget_notices WHERE folder = :folder AND day = :day',
  );
  return {
    of: limitReaderOf(database),
    set(folder, limits) {
      if (limits === null) unset.run(folder);
      else set.run({ folder, ...limits });
    },
    notice: (folder, day, kind) => notice.run({ folder, day, kind }).changes > 0,
    forgetNotices: (folder, day) => void forget.run({ folder, day }),
  };
}

/** Takes a folder's budget back, and all that was ever said about it. */
export function budgetForgetterOf(database: Database): (folder: string) => void {
  const budget = database.prepare('DELETE FROM budgets WHERE folder = ?');
  const notices = database.prepare('DELETE FROM budget_notices WHERE folder = ?');
  return (folder) => {
    budget.run(folder);
    notices.run(folder);
  };
}

/** `Budgets.of` for a read-only connection, too. */
export function limitReaderOf(database: Database): Budgets['of'] {
  const of = database.prepare('SELECT micro_usd, tokens FROM budgets WHERE folder = ?');
  return (folder) => {
    const row = of.get(folder);
    return row === undefined ? null : Row.parse(row);
  };
}
