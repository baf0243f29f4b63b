import { allowListProblem } from '../channels/telegram/access.ts';
import { identify } from '../channels/telegram/identity.ts';
import { botOf, TelegramEnvironment } from '../channels/telegram/settings.ts';
import { defineChannelExamination } from './channel-examination.ts';
import type { Examination } from './examination.ts';

/** The bot: whether Telegram knows its token, who may write to it, and how the channel does. */
export const examination = telegramExamination(20_000);

/** @param timeoutMs how long Telegram has to answer */
export function telegramExamination(timeoutMs: number): Examination {
  return defineChannelExamination({
    area: 'telegram',
    order: 42,
    settings: TelegramEnvironment,
    setUp: '`npx claw setup telegram` sets token and ids, and tries them.',
    absent: 'no bot yet',
    accountOf: botOf,
    problemOf: ({ allowFrom }) => allowListProblem(allowFrom),
    untried: () => 'a token is set; Telegram was not asked',
    async tryAccount(bot) {
      const who = await identify(bot, timeoutMs);
      return who.ok ? { ok: true, message: `the bot is @${who.username}` } : who;
    },
  });
}
