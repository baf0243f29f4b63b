import type { Database } from 'better-sqlite3';
import { z } from 'zod';

/** Tokens and money, both exact: whole tokens, and whole millionths of a dollar. */
export type Spending = {
  readonly tokens: number;
  readonly microUsd: number;
  /** Calls of a model without a known price, which the money leaves out. */
  readonly unpricedCalls: number;
};

/** The cost of one call of the model. */
export type Charge = {
  /** `YYYY-MM-DD` as the installation's clocks show it. */
  readonly day: string;
  readonly folder: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  readonly outputTokens: number;
  /** Null where the model has no known price. */
  readonly microUsd: number | null;
};

/** Tokens of prompts: those from the cache of the model's server, and the others. */
export type TokensRead = { readonly cached: number; readonly uncached: number };

/** The cost of a folder on one day. */
export type FolderSpending = Spending & { readonly folder: string };

/** The cost of a model on one day, by its name at its server. */
export type ModelSpending = Spending & { readonly model: string; readonly calls: number };

/** The name for all deleted folders together; no folder can have it. */
const DELETED = '(deleted)';

/** The costs of the models, by folder and day. */
export interface UsageTable {
  add(charge: Charge): void;
  of(folder: string, day: string): Spending;
  total(day: string): Spending;
  /** Returns the tokens that models read for a folder, or null for all, on a day. */
  read(day: string, folder: string | null): TokensRead;
  /** Returns the folders that have cost something on a day, the dearest first. */
  byFolder(day: string): readonly FolderSpending[];
  /** Returns the models that have cost a folder, or null for all, something on a day, the dearest first. */
  byModel(day: string, folder: string | null): readonly ModelSpending[];
}

const Sums = z.object({ tokens: z.int(), micro_usd: z.int(), unpriced_calls: z.int() });
const ReadSums = z.object({ cached: z.int(), uncached: z.int() });
const FolderSums = Sums.extend({ folder: z.string() });
const ModelSums = Sums.extend({ model: z.string(), calls: z.int() });

const SUMS = `
  coalesce(sum(input_tokens + cache_write_tokens + cache_read_tokens + output_tokens), 0) AS tokens,
  coalesce(sum(micro_usd), 0) AS micro_usd, coalesce(sum(unpriced_calls), 0) AS unpriced_calls`;

const ADDED = `
  ON CONFLICT (day, folder, model) DO UPDATE SET
    calls = calls + excluded.calls,
    unpriced_calls = unpriced_calls + excluded.unpriced_calls,
    input_tokens = input_tokens + excluded.input_tokens,
    cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
    cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
    output_tokens = output_tokens + excluded.output_tokens,
    micro_usd = micro_usd + excluded.micro_usd`;

/** Returns the table's statements, on a database that has it. */
export function openUsage(database: Database): UsageTable {
  const add = database.prepare(`
    INSERT INTO usage VALUES (:day, :folder, :model, 1, :unpriced,
      :inputTokens, :cacheWriteTokens, :cacheReadTokens, :outputTokens, :money) ${ADDED}`);
  const reading = createUsageReader(database);
  return {
    add: ({ microUsd, ...charge }) =>
      void add.run({ ...charge, unpriced: Number(microUsd === null), money: microUsd ?? 0 }),
    ...reading,
  };
}

/** Takes the name of a folder out of the books. What was paid was paid, so the sums stay. */
export function createSpenderForgetter(database: Database): (folder: string) => void {
  const merge = database.prepare(`
    INSERT INTO usage SELECT day, '${DELETED}', model, calls, unpriced_calls, input_tokens,
      cache_write_tokens, cache_read_tokens, output_tokens, micro_usd
    FROM usage WHERE folder = ? ${ADDED}`);
  const remove = database.prepare('DELETE FROM usage WHERE folder = ?');
  return (folder) => {
    merge.run(folder);
    remove.run(folder);
  };
}

/** Returns the part of it that a read-only connection has, too. */
export function createUsageReader(database: Database): Omit<UsageTable, 'add'> {
  const of = database.prepare(`SELECT ${SUMS} FROM usage WHERE day = :day AND folder = :folder`);
  const total = database.prepare(`SELECT ${SUMS} FROM usage WHERE day = ?`);
  const read = database.prepare(`
    SELECT coalesce(sum(cache_read_tokens), 0) AS cached,
      coalesce(sum(input_tokens + cache_write_tokens), 0) AS uncached
    FROM usage WHERE day = :day AND (:folder IS NULL OR folder = :folder)`);
  const byFolder = database.prepare(`
    SELECT folder, ${SUMS} FROM usage WHERE day = ?
    GROUP BY folder ORDER BY micro_usd DESC, tokens DESC, folder`);
  const byModel = database.prepare(`
    SELECT model, sum(calls) AS calls, ${SUMS} FROM usage
    WHERE day = :day AND (:folder IS NULL OR folder = :folder)
    GROUP BY model ORDER BY micro_usd DESC, tokens DESC, model`);
  return {
    of: (folder, day) => spendingOf(Sums.parse(of.get({ folder, day }))),
    total: (day) => spendingOf(Sums.parse(total.get(day))),
    read: (day, folder) => ReadSums.parse(read.get({ day, folder })),
    byFolder: (day) =>
      byFolder.all(day).map((row) => {
        const { folder, ...sums } = FolderSums.parse(row);
        return { folder, ...spendingOf(sums) };
      }),
    byModel: (day, folder) =>
      byModel.all({ day, folder }).map((row) => {
        const { model, calls, ...sums } = ModelSums.parse(row);
        return { model, calls, ...spendingOf(sums) };
      }),
  };
}

function spendingOf(sums: z.output<typeof Sums>): Spending {
  return {
    tokens: sums.tokens,
    microUsd: sums.micro_usd,
    unpricedCalls: sums.unpriced_calls,
  };
}
