import { z } from 'zod';
import { Address, NameList } from '../../lib/setting-values.ts';

/** Settings of the owner for Telegram. */
export const TelegramEnvironment = z.object({
  TELEGRAM_ALLOW_FROM: NameList,
  TELEGRAM_API_ROOT: Address.default('https://api.telegram.org').transform((url) =>
    url.replace(/\/+$/, ''),
  ),
  TELEGRAM_BOT_TOKEN: z.string().optional(),
  TELEGRAM_WEBHOOK_URL: z
    .string()
    .trim()
    .refine((url) => URL.canParse(url) && new URL(url).protocol === 'https:', {
      error: 'must be an address that begins with https://',
    })
    .optional(),
  TELEGRAM_OWNER: z.string().trim().regex(/^\d+$/, 'a user id, which is a number').optional(),
});

/** The owner's bot. */
export type TelegramSettings = {
  readonly token: string;
  /** User ids, or `*`; the owner's is among them. */
  readonly allowFrom: readonly string[];
  /** The owner's user id, if their own chat with the bot is one of the assistant's main chats. */
  readonly owner: string | null;
  /** Address of the Bot API, without a slash at the end. */
  readonly apiRoot: string;
  /** The address to which Telegram delivers; null for long polling. */
  readonly webhook: string | null;
};

/** Returns the owner's bot; null when it has no token. */
export function botOf(settings: z.output<typeof TelegramEnvironment>): TelegramSettings | null {
  const { TELEGRAM_BOT_TOKEN: token, TELEGRAM_ALLOW_FROM: listed } = settings;
  const { TELEGRAM_API_ROOT: apiRoot, TELEGRAM_OWNER: owner = null } = settings;
  const { TELEGRAM_WEBHOOK_URL: webhook = null } = settings;
  const allowFrom = owner === null ? listed : [...new Set([...listed, owner])];
  return token === undefined ? null : { token, allowFrom, owner, apiRoot, webhook };
}
