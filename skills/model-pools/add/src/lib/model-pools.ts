import { z } from 'zod';

/** A model of a pool. */
export type PoolModel = {
  /** Its name with the prefix. */
  readonly name: string;
  readonly contextTokens?: number;
  readonly maxTokens?: number;
};

/** Models that stand in for each other, best first. */
export type Pool = { readonly name: string; readonly models: readonly PoolModel[] };

const NAME = /^[a-z][a-z0-9_-]{0,30}$/;
const MODEL = /^([^\s,;()=]+\/[^\s,;()=]+)(?:\(([^()]*)\))?$/;
const OPTION = /^(context|max)=(\d{1,9})$/;
const EXAMPLE =
  'such as smart=anthropic/claude-sonnet-4-5, openai/gpt-5; cheap=groq/llama-3.1-8b-instant';

/**
 * Reads `smart=anthropic/a, openai/b(context=32000 max=4096); cheap=groq/c`.
 *
 * @returns a sentence's end on what is wrong
 */
export function parsePools(text: string): readonly Pool[] | string {
  const pools: Pool[] = [];
  for (const part of text.split(';').filter((each) => each.trim() !== '')) {
    const [, name = '', list = ''] = /^\s*([^=\s]*)\s*=(.*)$/s.exec(part) ?? [];
    if (!NAME.test(name)) return `must be pools by name, ${EXAMPLE}`;
    if (pools.some((pool) => pool.name === name)) return `has the pool ${name} twice`;
    const models = splitModels(list).map(parseModel);
    const wrong = models.indexOf(null);
    if (models.length === 0 || wrong !== -1)
      return `has no model that can be read in the pool ${name}, ${EXAMPLE}`;
    pools.push({ name, models: models.filter((model) => model !== null) });
  }
  return pools.length === 0 ? `must be pools by name, ${EXAMPLE}` : pools;
}

/** Splits at commas, but not at those in parentheses. */
function splitModels(list: string): readonly string[] {
  return list
    .split(/,(?![^(]*\))/)
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function parseModel(text: string): PoolModel | null {
  const [, name, options = ''] = MODEL.exec(text) ?? [];
  if (name === undefined) return null;
  const model: { name: string; contextTokens?: number; maxTokens?: number } = { name };
  for (const option of options.split(/[\s,]+/).filter((each) => each !== '')) {
    const [, key, value] = OPTION.exec(option) ?? [];
    if (key === undefined || Number(value) < 1) return null;
    if (key === 'context') model.contextTokens = Number(value);
    else model.maxTokens = Number(value);
  }
  return model;
}

const Pools = z
  .string()
  .optional()
  .transform((text, context): readonly Pool[] => {
    if (text === undefined) return [];
    const pools = parsePools(text);
    if (typeof pools !== 'string') return pools;
    context.addIssue({ code: 'custom', message: pools });
    return z.NEVER;
  });

/** `summary=cheap, heartbeat=cheap`: the pool of each kind of work. */
const PoolFor = z
  .string()
  .default('')
  .transform((text, context): Readonly<Record<string, string>> => {
    const found: Record<string, string> = {};
    for (const part of text.split(/[,;]/).filter((each) => each.trim() !== '')) {
      const [, work, pool] = /^\s*([\w-]+)\s*=\s*([\w-]+)\s*$/.exec(part) ?? [];
      if (work === undefined || pool === undefined) {
        context.addIssue({
          code: 'custom',
          message: 'must be pools by kind of work, such as summary=cheap, heartbeat=cheap',
        });
        return z.NEVER;
      }
      found[work] = pool;
    }
    return found;
  });

const Names = z
  .string()
  .default('')
  .transform((list) => list.split(/[\s,]+/).filter((name) => name !== ''));

/** Settings of the pools. */
export const PoolSettings = z.object({
  MODEL_POOLS: Pools,
  MODEL_POOL_DEFAULT: z.string().optional(),
  MODEL_POOL_FOR: PoolFor,
  MODEL_POOL_TYPE_HEADER: Names,
  MODEL_PROXY: z
    .string()
    .regex(/^[^\s/]+(\/[^\s/]+)*\/?$/, 'must be the prefix of its models, such as local/')
    .transform((prefix) => (prefix.endsWith('/') ? prefix : `${prefix}/`))
    .optional(),
});
export type PoolSettings = z.output<typeof PoolSettings>;

/** Returns the names in the settings that no pool has. */
export function unknownPools(settings: PoolSettings): readonly string[] {
  const { MODEL_POOLS: pools, MODEL_POOL_DEFAULT: usual, MODEL_POOL_FOR: byWork } = settings;
  const named = [...(usual === undefined ? [] : [usual]), ...Object.values(byWork)];
  return [...new Set([...named, ...settings.MODEL_POOL_TYPE_HEADER])].filter(
    (name) => name !== '*' && !pools.some((pool) => pool.name === name),
  );
}

/**
 * Returns the pool for a kind of work: the one that the turn asks for, that of its kind, else the default, which is
 * the first where none is named.
 */
export function poolFor(settings: PoolSettings, work: string, asked?: string): Pool | null {
  const { MODEL_POOLS: pools, MODEL_POOL_DEFAULT: usual, MODEL_POOL_FOR: byWork } = settings;
  const find = (name: string | undefined) => pools.find((pool) => pool.name === name);
  const own = Object.hasOwn(byWork, work) ? byWork[work] : undefined;
  return find(asked) ?? find(own) ?? find(usual) ?? pools[0] ?? null;
}
