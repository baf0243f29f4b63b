import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CliResult, VerbResult } from '@patchclaw/claw/cli';
import type { Settings } from '../../config.ts';
import type { BudgetReport } from '../../host/budget/budget-report.ts';
import { dataDirOf, environmentOf, timeZoneOf } from '../environment.ts';

/** Adds the assistant's spending to the engine's status, if there is an assistant. */
export async function withAssistant(
  result: VerbResult<'status'>,
  root: string,
): Promise<CliResult<'status'>> {
  if (result.data === null) return result;
  const assistant = await readAssistant(root);
  return assistant === null ? result : { ...result, data: { ...result.data, assistant } };
}

/** Money and tokens of a day, as `claw status --json` has them; null is without a limit. */
type SpentAmounts = {
  readonly microUsd: number;
  readonly tokens: number;
  /** Calls whose model has no known price. */
  readonly unpricedCalls: number;
  readonly limitMicroUsd: number | null;
  readonly limitTokens: number | null;
};

/** Amounts that the assistant of this tree has spent today. */
type AssistantData = {
  readonly budgets: {
    readonly day: string;
    readonly total: SpentAmounts;
    readonly groups: readonly (SpentAmounts & { readonly folder: string; readonly name: string })[];
    /** The same in one line, for people. */
    readonly summary: string;
  };
};

/** Returns null where the database is missing or cannot be read: `status` shows budgets as an extra. */
async function readAssistant(root: string): Promise<AssistantData | null> {
  try {
    // Cheap first: most trees that the engine works on have no assistant.
    const environment = environmentOf(root);
    const path = join(dataDirOf(environment, root), 'claw.db');
    if (!existsSync(path)) return null;
    const { settingsOf } = await import('../setup/settings.ts');
    return await readBudgetReport(path, settingsOf(environment, root), timeZoneOf(environment));
  } catch {
    return null;
  }
}

async function readBudgetReport(
  path: string,
  settings: Settings,
  timeZone: string,
): Promise<AssistantData> {
  const [{ default: Database }, { localDay }, reports, usage, budgets] = await Promise.all([
    import('better-sqlite3'),
    import('../../host/budget/local-day.ts'),
    import('../../host/budget/budget-report.ts'),
    import('../../store/usage.ts'),
    import('../../store/budgets.ts'),
  ]);
  const database = new Database(path, { readonly: true, fileMustExist: true });
  try {
    const groups = database.prepare('SELECT DISTINCT folder, name FROM groups ORDER BY folder');
    const report = reports.createBudgetReport({
      day: localDay(Date.now(), timeZone),
      budget: settings.budget,
      usage: usage.createUsageReader(database),
      limitsOf: budgets.createLimitReader(database),
      groups: groups.all() as { folder: string; name: string }[],
    });
    return { budgets: { ...dataOf(report), summary: reports.budgetLine(report) } };
  } finally {
    database.close();
  }
}

function dataOf({ day, total, totalLimits, folders }: BudgetReport) {
  return {
    day,
    total: spentData({ spent: total, limits: totalLimits }),
    groups: folders.map((each) => ({
      folder: each.folder,
      name: each.name,
      ...spentData(each),
    })),
  };
}

function spentData({ spent, limits }: Pick<BudgetReport['folders'][number], 'spent' | 'limits'>) {
  const { microUsd, tokens, unpricedCalls } = spent;
  return {
    microUsd,
    tokens,
    unpricedCalls,
    limitMicroUsd: limits.microUsd,
    limitTokens: limits.tokens,
  };
}
