import { join, resolve } from 'node:path';
import { z } from 'zod';
import {
  anyNumber,
  type NumberByChat,
  numberByChat,
  oneOf,
  wholeNumber,
} from './lib/setting-values.ts';
import { type Environment, parseWhatFits, type WrongSetting, wrongText } from './lib/settings.ts';

/** Prices of tokens, in whole millionths of a dollar for a million of them. */
export type Price = {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
};

/** Limits of a day, money in whole millionths of a dollar; null is without a limit. */
export type BudgetSettings = {
  /** The limit of each group that has none of its own. */
  readonly microUsd: number | null;
  readonly tokens: number | null;
  /** All groups together. */
  readonly totalMicroUsd: number | null;
  /** The limit in tokens of a group whose model has no known price, where money is limited and tokens are not. */
  readonly unpricedTokens: number | null;
};

/** The price of a model by its name, or of all models of a prefix that ends in `/`. */
export type NamedPrice = { readonly name: string; readonly price: Price };

/**
 * The owner's settings, from `.env` or the environment. Fields are sorted by name, and the environment below
 * keeps the same order, so that skills which add one rarely meet on the same line.
 */
export type Settings = {
  readonly assistantName: string;
  readonly budget: BudgetSettings;
  /** Absolute path of the folder for database, sessions, credentials and logs. */
  readonly dataDir: string;
  /**
   * Time that a container stays without a turn, and an agent in a turn without a sign of life, in
   * milliseconds.
   */
  readonly idleMs: number;
  /** The least severe entries that the log takes; an interactive terminal shows warnings and errors only. */
  readonly logLevel: 'error' | 'warn' | 'info' | 'debug';
  /** The number of agents that may work at the same time. */
  readonly maxAgents: number;
  /** The number of containers that are kept, those at work included. */
  readonly maxContainers: number;
  /** The number of a turn's newest messages that its agent sees. */
  readonly messagesShown: number;
  /** The name of the model that answers, with the prefix of its provider; null for the default. */
  readonly model: string | null;
  /** The model's context in tokens; null takes the known size of the model. */
  readonly modelContext: number | null;
  /** The longest answer in tokens, in each chat; null takes the limit of the model. */
  readonly modelMaxTokens: NumberByChat<null>;
  /** The owner's word on the model's price; null takes it from the list of known models. */
  readonly modelPrice: Price | null;
  /** The owner's word on the prices of other models. */
  readonly modelPrices?: readonly NamedPrice[];
  /** How freely the model chooses its words, in each chat; null leaves that to its server. */
  readonly modelTemperature: NumberByChat<null>;
  /** Absolute path of the owner's list of what else agents may see, outside the project; null for none. */
  readonly mountsFile: string | null;
  /** Addresses under which browsers may reach the pages beside that of this machine: of a proxy or a tunnel. */
  readonly pageOrigins: readonly string[];
  /** Null lets the best engine that is there run the agents. */
  readonly sandbox: string | null;
  /** After how many hours of silence a group's next turn begins a new conversation; 0 for never. */
  readonly sessionExpiryHours: number;
  /** The longest command of an agent's shell, in milliseconds. */
  readonly shellTimeoutMs: number;
  /** Absolute path of a short folder for the groups' sockets; null puts them below `dataDir`. */
  readonly socketDir: string | null;
  /** True writes a summary in place of the oldest messages of a long conversation; false leaves them out. */
  readonly summarize: boolean;
  /** Rounds of tool calls after which a turn stops, in each chat. */
  readonly toolRounds: NumberByChat;
  /** The longest turn of an agent, in milliseconds. */
  readonly turnTimeoutMs: number;
};

/** `5` or `0.50` as whole millionths: money is never a fraction that drifts. */
const Usd = z
  .string()
  .regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be dollars such as 5 or 0.50')
  .transform((usd) => Math.round(Number(usd) * 1_000_000));
const UsdLimit = z.union([z.literal('none').transform(() => null), Usd], {
  error: 'must be dollars such as 5 or 0.50, or none',
});
const TokenLimit = z.union(
  [
    z.literal('none').transform(() => null),
    z
      .string()
      .regex(/^\d{1,12}$/)
      .transform(Number),
  ],
  { error: 'must be a whole number of tokens, or none' },
);
const PRICE = /^(?:0|\d{1,6}(\.\d{1,6})?(\/\d{1,6}(\.\d{1,6})?)(\/\d{1,6}(\.\d{1,6})?){0,2})$/;
/** Prices with commas between them, one of them for `MODEL`, the others for what is named before a `=`. */
const ModelPrices = z
  .string()
  .max(4_000)
  .transform((text) =>
    text.split(',').map((part) => {
      const equals = part.lastIndexOf('=');
      return {
        name: part.slice(0, Math.max(0, equals)).trim(),
        price: part.slice(equals + 1).trim(),
      };
    }),
  )
  .refine((prices) => prices.every(({ price }) => PRICE.test(price)), {
    error:
      'must be dollars for a million tokens read and written, such as 3/15, or of other models by name, such as local/=0',
  })
  .transform((prices) => prices.map(({ name, price }) => ({ name, price: priceOf(price) })));

/** Whole addresses with commas between them: each is compared as it is, so nothing may be left to reading. */
const PageOrigins = z
  .string()
  .max(2_000)
  .transform((text) => text.split(',').map((one) => one.trim().replace(/\/$/, '')))
  .refine((origins) => origins.every(isPageOrigin), {
    error: 'must be addresses such as https://nas.example.ts.net, with commas between',
  });

/** A timer of Node's takes no more. */
const MAX_MS = 2_147_483_647;

const CoreEnvironment = z.object({
  // assistantName
  ASSISTANT_NAME: z.string().min(1).default('Andy'),
  // budget
  BUDGET_USD: UsdLimit.default(5_000_000),
  BUDGET_TOKENS: TokenLimit.default(null),
  BUDGET_TOTAL_USD: UsdLimit.default(null),
  BUDGET_UNPRICED_TOKENS: TokenLimit.default(2_000_000),
  // dataDir
  CLAW_DATA: z.string().min(1).default('data'),
  // idleMs
  CLAW_IDLE_MS: wholeNumber(1, MAX_MS).default(600_000),
  // logLevel
  CLAW_LOG_LEVEL: oneOf(['error', 'warn', 'info', 'debug']).default('info'),
  // maxAgents
  CLAW_MAX_AGENTS: wholeNumber(1, 64).default(4),
  // maxContainers
  CLAW_MAX_CONTAINERS: wholeNumber(1, 64).default(8),
  // messagesShown
  CONTEXT_MESSAGES: wholeNumber(1, 500).default(50),
  // model
  MODEL: z.string().optional(),
  // modelContext
  MODEL_CONTEXT: wholeNumber(1_000, 100_000_000).optional(),
  // modelMaxTokens
  MODEL_MAX_TOKENS: numberByChat({ from: 1, to: 10_000_000, usual: null, example: 4_000 }),
  // modelPrice
  MODEL_PRICE: ModelPrices.optional(),
  // modelTemperature
  MODEL_TEMPERATURE: numberByChat({ from: 0, to: 2, usual: null, example: 0.7, isFraction: true }),
  // mountsFile
  CLAW_MOUNTS: z.string().min(1).optional(),
  HOME: z.string().optional(),
  XDG_CONFIG_HOME: z.string().optional(),
  // pageOrigins
  PAGE_ORIGINS: PageOrigins.optional(),
  // sandbox
  CLAW_SANDBOX: z.string().optional(),
  // sessionExpiryHours
  SESSION_EXPIRY_HOURS: anyNumber(0, 87_600).default(24),
  // shellTimeoutMs
  CLAW_SHELL_TIMEOUT_MS: wholeNumber(1, MAX_MS).default(120_000),
  // socketDir
  CLAW_SOCKETS: z.string().min(1).optional(),
  // summarize
  SUMMARIZE: oneOf(['on', 'off']).default('on'),
  // toolRounds
  CLAW_TOOL_ROUNDS: numberByChat({ from: 1, to: 200, usual: 20 }),
  // turnTimeoutMs
  CLAW_TURN_TIMEOUT_MS: wholeNumber(1, MAX_MS).default(1_800_000),
});

/** A wrong setting, in words for the owner. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads the settings from an environment in which `.env` has been merged already.
 * An empty value counts as not set.
 *
 * @throws SettingsError naming the setting and what it must be
 */
export function readSettings(environment: Environment, projectDir: string): Settings {
  const { settings, wrong } = readWhatFits(environment, projectDir);
  const [first] = wrong;
  if (first !== undefined) {
    throw new SettingsError(wrongText(first, '.env or the environment'));
  }
  return settings;
}

/** Reads the settings that are right, and takes the defaults of those that are not. Never throws. */
export function readWhatFits(
  environment: Environment,
  projectDir: string,
): { readonly settings: Settings; readonly wrong: readonly WrongSetting[] } {
  const { values, wrong } = parseWhatFits(CoreEnvironment, environment);
  return { settings: settingsOf(values, projectDir), wrong };
}

function settingsOf(env: z.output<typeof CoreEnvironment>, projectDir: string): Settings {
  return {
    assistantName: env.ASSISTANT_NAME,
    budget: {
      microUsd: env.BUDGET_USD,
      tokens: env.BUDGET_TOKENS,
      totalMicroUsd: env.BUDGET_TOTAL_USD,
      unpricedTokens: env.BUDGET_UNPRICED_TOKENS,
    },
    dataDir: resolve(projectDir, env.CLAW_DATA),
    idleMs: env.CLAW_IDLE_MS,
    logLevel: env.CLAW_LOG_LEVEL,
    maxAgents: env.CLAW_MAX_AGENTS,
    maxContainers: env.CLAW_MAX_CONTAINERS,
    messagesShown: env.CONTEXT_MESSAGES,
    model: env.MODEL ?? null,
    modelContext: env.MODEL_CONTEXT ?? null,
    modelMaxTokens: env.MODEL_MAX_TOKENS,
    modelPrice: env.MODEL_PRICE?.find(({ name }) => name === '')?.price ?? null,
    modelPrices: env.MODEL_PRICE?.filter(({ name }) => name !== '') ?? [],
    modelTemperature: env.MODEL_TEMPERATURE,
    mountsFile: mountsFileOf(env, projectDir),
    pageOrigins: env.PAGE_ORIGINS ?? [],
    sandbox: env.CLAW_SANDBOX ?? null,
    sessionExpiryHours: env.SESSION_EXPIRY_HOURS,
    shellTimeoutMs: env.CLAW_SHELL_TIMEOUT_MS,
    socketDir: env.CLAW_SOCKETS === undefined ? null : resolve(projectDir, env.CLAW_SOCKETS),
    summarize: env.SUMMARIZE === 'on',
    toolRounds: env.CLAW_TOOL_ROUNDS,
    turnTimeoutMs: env.CLAW_TURN_TIMEOUT_MS,
  };
}

function isPageOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:' && new URL(text).origin === text;
}

/** Reads dollars read/written/cache write/cache read; what is read from the cache costs as any input by default. */
function priceOf(text: string): Price {
  const [input = 0, output = 0, cacheWrite = input, cacheRead = input] = text
    .split('/')
    .map((usd) => Usd.parse(usd));
  return { input, output, cacheWrite, cacheRead };
}

/** Returns the path of the list of shared folders; null where there is no home. */
export function mountsFileOf(
  {
    CLAW_MOUNTS,
    HOME,
    XDG_CONFIG_HOME,
  }: Pick<z.output<typeof CoreEnvironment>, 'CLAW_MOUNTS' | 'HOME' | 'XDG_CONFIG_HOME'>,
  projectDir: string,
): string | null {
  if (CLAW_MOUNTS !== undefined) return resolve(projectDir, CLAW_MOUNTS);
  const configDir = XDG_CONFIG_HOME ?? (HOME === undefined ? null : join(HOME, '.config'));
  return configDir === null ? null : join(configDir, 'patchclaw', 'mounts.yaml');
}
