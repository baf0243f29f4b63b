import { allowListProblem } from '../channels/telegram/access.ts';
import { type Identity, identify } from '../channels/telegram/identity.ts';
import { botOf, TelegramEnvironment } from '../channels/telegram/settings.ts';
import { askAllowList, askForOwner, askTried, namesOf, ownerSetting } from './channel-questions.ts';
import { defineSetup, type OwnSettings, type SetupContext, type SetupOutcome } from './step.ts';

const TIMEOUT_MS = 20_000;
const WRONG_IDS =
  'Write your user id, a number such as 987654321, with commas between several; * is everybody.';

type Context = SetupContext & OwnSettings<typeof TelegramEnvironment.shape>;

/** Connects the assistant to a bot of the owner's. */
export const setup = defineSetup({
  name: 'telegram',
  help: 'connect the assistant to a Telegram bot of yours; @BotFather on Telegram makes one',
  settings: TelegramEnvironment,
  currentState({ settings }) {
    const bot = botOf(settings);
    if (bot === null) return null;
    const way = bot.webhook === null ? '' : ', by webhook';
    return `a token, and ${namesOf(bot.allowFrom)} may write${way}`;
  },
  run: setUpTelegram,
});

/** Asks for token and ids, tries the token with Telegram, and only then writes `.env`. */
async function setUpTelegram(context: Context): Promise<SetupOutcome> {
  const { ask, settings } = context;
  const { typed: token, found } = await askTried(
    ask,
    { message: 'The token of your bot, from @BotFather', isSecret: true },
    (typed) => identityOf(context, typed),
  );
  const { username } = found;
  context.say(`The bot is @${username}.`);
  const allowFrom = await askAllowList(ask, {
    message: 'Your user id, from @userinfobot (of several people: with commas between them)',
    initial: settings.TELEGRAM_ALLOW_FROM.join(','),
    check: (ids) => (allowListProblem(ids) === null ? null : WRONG_IDS),
  });
  const { TELEGRAM_OWNER: known } = settings;
  const owner = await askForOwner(ask, {
    known,
    allowFrom,
    check: (id) => (/^\d+$/.test(id) ? null : 'Write a user id, a number such as 987654321, or -.'),
  });
  context.write({
    TELEGRAM_BOT_TOKEN: token,
    TELEGRAM_ALLOW_FROM: allowFrom.join(','),
    ...ownerSetting('TELEGRAM_OWNER', owner, known),
  });
  const next =
    owner === null ? '' : ` Write to @${username}: ${owner} commands the assistant there.`;
  return {
    summary: `Telegram knows the bot, @${username}; ${namesOf(allowFrom)} may write to it. .env holds the token.${next}`,
    data: { username, allowFrom, owner },
  };
}

async function identityOf(context: Context, token: string): Promise<Identity> {
  if (!/^\d+:[\w-]+$/.test(token)) {
    return { ok: false, message: 'A token looks like 123456789:AAE…, as @BotFather shows it.' };
  }
  const { TELEGRAM_API_ROOT: apiRoot } = context.settings;
  return await identify({ token, apiRoot }, TIMEOUT_MS);
}
