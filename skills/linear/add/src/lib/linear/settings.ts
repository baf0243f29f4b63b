import { z } from 'zod';
import { Address, NameList, wholeNumber } from '../setting-values.ts';

const DEFAULT_POLL_SECONDS = 30;

/** Settings of the owner for Linear. */
export const LinearEnvironment = z.object({
  LINEAR_ALLOW_FROM: NameList.transform((list) => list.map((entry) => entry.toLowerCase())),
  LINEAR_API_KEY: z.string().trim().optional(),
  LINEAR_API_URL: Address.default('https://api.linear.app/graphql'),
  LINEAR_POLL_SECONDS: wholeNumber(5, 3_600).optional(),
  LINEAR_WEBHOOK_SECRET: z.string().trim().min(16, 'must have 16 characters or more').optional(),
});

/** The assistant's user at Linear. */
export type LinearSettings = {
  readonly key: string;
  readonly url: string;
  /** E-mail addresses or ids of users, or `*`. */
  readonly allowFrom: readonly string[];
  readonly pollMs: number;
};

/** A webhook tells of changes at once; what it missed is found after this time. */
const POLL_BESIDE_WEBHOOK_SECONDS = 300;

/** Returns the user; null where there is no key. */
export function linearOf(settings: z.output<typeof LinearEnvironment>): LinearSettings | null {
  const { LINEAR_API_KEY: key, LINEAR_API_URL: url, LINEAR_ALLOW_FROM: allowFrom } = settings;
  if (key === undefined || key === '') return null;
  const hasWebhook = settings.LINEAR_WEBHOOK_SECRET !== undefined;
  const usual = hasWebhook ? POLL_BESIDE_WEBHOOK_SECONDS : DEFAULT_POLL_SECONDS;
  return { key, url, allowFrom, pollMs: (settings.LINEAR_POLL_SECONDS ?? usual) * 1_000 };
}

/** The address of the one chat with issues. */
export const LINEAR_JID = 'linear:__channel__';
