import { z } from 'zod';
import { Address, NameList } from '../../lib/setting-values.ts';

/** Settings of the owner for Telegram. */
export const TelegramEnvironment = z.object({
  TELEGRAM_ALLOW_FROM: NameList,
  TELEGRAM_API_ROOT: Address.default('https://api.telegram.org').transform((url) =>
    url.replace(/\/+$/, ''),
  ),
  TELEGRAM_BOT_TOKEN: z.string().optional(),
});

/** The owner's bot. */
export type TelegramSettings = {
  readonly token: string;
  /** User ids, or `*`. */
  readonly allowFrom: readonly string[];
  /** Address of the Bot API, without a slash at the end. */
  readonly apiRoot: string;
};

/** Returns the owner's bot; null when it has no token. */
export function botOf(settings: z.output<typeof TelegramEnvironment>): TelegramSettings | null {
  const { TELEGRAM_BOT_TOKEN: token, TELEGRAM_ALLOW_FROM: allowFrom } = settings;
  return token === undefined ? null : { token, allowFrom, apiRoot: settings.TELEGRAM_API_ROOT };
}
