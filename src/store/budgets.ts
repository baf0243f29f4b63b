import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** The limits of a day; null is without a limit. */
export type Limits = { readonly microUsd: number | null; readonly tokens: number | null };

/**
 * Notices about a folder's budget, each sent once a day. The owner gets one when it is nearly used up and one when it
 * is used up; the chat gets one that says there will be no more answers.
 */
export type BudgetNotice = 'near' | 'spent' | 'paused';

/** The owner's budgets of single folders, and the notices about them. */
export interface Budgets {
  /** Returns a folder's own limits; null where the default counts. */
  of(folder: string): Limits | null;
  /** Sets what a folder may spend, or with null leaves it to the default again. */
  set(folder: string, limits: Limits | null): void;
  /** Returns true the first time that it is asked for this folder, day and notice. */
  notice(folder: string, day: string, notice: BudgetNotice): boolean;
  /** Allows the notices of a folder on a day again: its budget has changed. */
  forgetNotices(folder: string, day: string): void;
}

const Row = z
  .object({ micro_usd: z.int().nullable(), tokens: z.int().nullable() })
  .transform(({ micro_usd, tokens }) => ({ microUsd: micro_usd, tokens }));

export function openStoredBudgets(database: Database): Budgets {
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
    of: createLimitReader(database),
    set(folder, limits) {
      if (limits === null) unset.run(folder);
      else set.run({ folder, ...limits });
    },
    notice: (folder, day, kind) => notice.run({ folder, day, kind }).changes > 0,
    forgetNotices: (folder, day) => void forget.run({ folder, day }),
  };
}

/** Removes a folder's budget, and the record of all notices about it. */
export function createBudgetForgetter(database: Database): (folder: string) => void {
  const budget = database.prepare('DELETE FROM budgets WHERE folder = ?');
  const notices = database.prepare('DELETE FROM budget_notices WHERE folder = ?');
  return (folder) => {
    budget.run(folder);
    notices.run(folder);
  };
}

/** Creates `Budgets.of`, also for a read-only connection. */
export function createLimitReader(database: Database): Budgets['of'] {
  const of = database.prepare('SELECT micro_usd, tokens FROM budgets WHERE folder = ?');
  return (folder) => {
    const row = of.get(folder);
    return row === undefined ? null : Row.parse(row);
  };
}
