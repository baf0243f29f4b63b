import { resolve } from 'node:path';
import { z } from 'zod';

/** The model behind the agent: which protocol it speaks, where it is, and the key, if there is one. */
export type ModelSettings = {
  readonly provider: 'anthropic' | 'openai';
  readonly model: string;
  readonly baseUrl: string;
  /** Null when none is set: no agent can run until `claw setup` has put one there. */
  readonly apiKey: string | null;
};

/**
 * What the owner can set, in `.env` or the environment. Fields are sorted by name, and the
 * environment below keeps the same order, so that skills which add one rarely meet on the same line.
 */
export type Settings = {
  readonly assistantName: string;
  /** Absolute path of the folder for database, sessions, credentials and logs. */
  readonly dataDir: string;
  /** What is written to the log; on an interactive terminal only warnings are shown as well. */
  readonly logLevel: 'error' | 'warn' | 'info' | 'debug';
  readonly model: ModelSettings;
  /** Null lets the best engine that is there run the agents. */
  readonly sandbox: 'docker' | 'podman' | 'bubblewrap' | null;
  /** The owner's app on Slack; null when it has no token at all. `allowFrom` holds user ids, or `*`. */
  readonly slack: {
    /** Null when only the other token is set. */
    readonly botToken: string | null;
    readonly appToken: string | null;
    readonly allowFrom: readonly string[];
    /** Where the Web API is, with a slash at the end. */
    readonly apiUrl: string;
  } | null;
  /** Absolute path of a short folder for the groups' sockets; null puts them below `dataDir`. */
  readonly socketDir: string | null;
  /** How long one turn of the agent may take, in milliseconds. */
  readonly turnTimeoutMs: number;
};

const Environment = z.object({
  // assistantName
  ASSISTANT_NAME: z.string().min(1).default('Andy'),
  // dataDir
  CLAW_DATA: z.string().min(1).default('data'),
  // logLevel
  CLAW_LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug']).default('info'),
  // model
  MODEL: z
    .string()
    .regex(/^(anthropic|openai)\/.+$/, 'must be anthropic/<model> or openai/<model>')
    .default('anthropic/claude-sonnet-4-5'),
  ANTHROPIC_API_KEY: z.string().optional(),
  ANTHROPIC_BASE_URL: z.url().default('https://api.anthropic.com'),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: z.url().default('https://api.openai.com/v1'),
  // sandbox
  CLAW_SANDBOX: z.enum(['docker', 'podman', 'bubblewrap']).optional(),
  // slack
  SLACK_ALLOW_FROM: z
    .string()
    .default('')
    .transform((list) => list.split(/[\s,]+/).filter((id) => id !== '')),
  SLACK_API_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://slack.com/api/')
    .transform((url) => url.replace(/\/*$/, '/')),
  SLACK_APP_TOKEN: z.string().optional(),
  SLACK_BOT_TOKEN: z.string().optional(),
  // socketDir
  CLAW_SOCKETS: z.string().min(1).optional(),
  // turnTimeoutMs
  CLAW_TURN_TIMEOUT_MS: z.coerce.number().int().positive().default(600_000),
});

/** What is wrong with a setting, in words for the owner. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads the settings from an environment in which `.env` has been merged already.
 * An empty value counts as not set.
 *
 * @throws SettingsError naming the setting and what it must be
 */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  projectDir: string,
): Settings {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new SettingsError(
      `${issue?.path.join('.')} in .env or the environment: ${issue?.message}`,
    );
  }
  const env = parsed.data;
  return {
    assistantName: env.ASSISTANT_NAME,
    dataDir: resolve(projectDir, env.CLAW_DATA),
    logLevel: env.CLAW_LOG_LEVEL,
    model: modelSettings(env),
    sandbox: env.CLAW_SANDBOX ?? null,
    slack:
      env.SLACK_BOT_TOKEN === undefined && env.SLACK_APP_TOKEN === undefined
        ? null
        : {
            botToken: env.SLACK_BOT_TOKEN ?? null,
            appToken: env.SLACK_APP_TOKEN ?? null,
            allowFrom: env.SLACK_ALLOW_FROM,
            apiUrl: env.SLACK_API_URL,
          },
    socketDir: env.CLAW_SOCKETS === undefined ? null : resolve(projectDir, env.CLAW_SOCKETS),
    turnTimeoutMs: env.CLAW_TURN_TIMEOUT_MS,
  };
}

function modelSettings(env: z.output<typeof Environment>): ModelSettings {
  const slash = env.MODEL.indexOf('/');
  const model = env.MODEL.slice(slash + 1);
  return env.MODEL.startsWith('openai/')
    ? {
        provider: 'openai',
        model,
        baseUrl: env.OPENAI_BASE_URL,
        apiKey: env.OPENAI_API_KEY ?? null,
      }
    : {
        provider: 'anthropic',
        model,
        baseUrl: env.ANTHROPIC_BASE_URL,
        apiKey: env.ANTHROPIC_API_KEY ?? null,
      };
}
