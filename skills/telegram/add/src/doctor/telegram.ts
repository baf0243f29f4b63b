import { allowListProblem, phoneAmong } from '../channels/telegram/access.ts';
import { identify, webhookOf } from '../channels/telegram/identity.ts';
import {
  botOf,
  TelegramEnvironment,
  type TelegramSettings,
} from '../channels/telegram/settings.ts';
import { deliveryProblem } from '../channels/telegram/webhook.ts';
import { defineChannelExamination } from './channel-examination.ts';
import { type Examination, type Finding, ok, problem } from './examination.ts';

const TRY_AGAIN = 'Run `npx claw doctor` again.';

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
    remarks: ({ allowFrom }) => {
      const phone = phoneAmong(allowFrom);
      const advice = 'Put the user id in its place: `npx claw setup telegram`.';
      return phone === null ? [] : [problem('telegram', `TELEGRAM_ALLOW_FROM: ${phone}`, advice)];
    },
    untried: () => 'a token is set; Telegram was not asked',
    async tryAccount(bot) {
      const who = await identify(bot, timeoutMs);
      if (!who.ok) return who;
      const findings =
        bot.webhook === null ? [] : [await webhookFinding(bot, bot.webhook, timeoutMs)];
      return { ok: true, message: `the bot is @${who.username}`, findings };
    },
  });
}

/** Whether Telegram delivers to the address that is set. */
async function webhookFinding(
  bot: TelegramSettings,
  address: string,
  timeoutMs: number,
): Promise<Finding> {
  const info = await webhookOf(bot, timeoutMs);
  if (info === null)
    return problem('telegram', 'Telegram did not say where it delivers to.', TRY_AGAIN);
  if (info.url !== address) {
    const elsewhere = info.url === '' ? 'no webhook yet' : 'another webhook';
    return problem(
      'telegram',
      `TELEGRAM_WEBHOOK_URL is set, but the bot has ${elsewhere}.`,
      'Start the assistant: it sets the webhook. If another program uses this bot, make a bot of its own for it.',
    );
  }
  const wrong = deliveryProblem(info);
  return wrong === null
    ? ok('telegram', 'Telegram delivers to TELEGRAM_WEBHOOK_URL')
    : problem(
        'telegram',
        wrong,
        'Send a request to that address yourself: the assistant answers 401 without the secret.',
      );
}
