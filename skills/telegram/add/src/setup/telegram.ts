import { allowListProblem, bareId, phoneAmong, readUser } from '../channels/telegram/access.ts';
import { type Identity, identify, whoHas } from '../channels/telegram/identity.ts';
import { botOf, TelegramEnvironment } from '../channels/telegram/settings.ts';
import { tryWebhookAddress } from '../channels/telegram/webhook-address.ts';
import { askAllowList, askForOwner, askTried, namesOf, ownerSetting } from './channel-questions.ts';
import { defineSetup, type OwnSettings, type SetupContext, type SetupOutcome } from './step.ts';

const TIMEOUT_MS = 20_000;
/** More are not asked about one after the other. */
const MOST_NAMED = 10;
const NONE = '-';
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
  run: (context) => setUpTelegram(context),
});

/**
 * Asks for token and ids, tries the token with Telegram, and only then writes `.env`.
 *
 * @param tryAddress another way to the webhook's address than the internet, for tests
 */
export async function setUpTelegram(
  context: Context,
  tryAddress = tryWebhookAddress,
): Promise<SetupOutcome> {
  const { ask, settings } = context;
  const { typed: token, found } = await askTried(
    ask,
    { message: 'The token of your bot, from @BotFather', isSecret: true },
    (typed) => identityOf(context, typed),
  );
  const { username } = found;
  context.say(`The bot is @${username}.`);
  const listed = await askAllowList(ask, {
    message:
      'Your user id, from @userinfobot; it is not your phone number (of several people: with commas between them)',
    initial: settings.TELEGRAM_ALLOW_FROM.join(','),
    check: (ids) =>
      phoneAmong(ids) ?? (allowListProblem(ids.map(bareId)) === null ? null : WRONG_IDS),
  });
  const allowFrom = listed.map(bareId);
  await nameThem(context, token, allowFrom);
  const { TELEGRAM_OWNER: known } = settings;
  const typedOwner = await askForOwner(ask, {
    known,
    allowFrom,
    check: (id) =>
      phoneAmong([id]) ??
      (/^\d+$/.test(bareId(id)) ? null : 'Write a user id, a number such as 987654321, or -.'),
  });
  const owner = typedOwner === null ? null : bareId(typedOwner);
  const webhook = await askForWebhook(context, tryAddress);
  context.write({
    TELEGRAM_BOT_TOKEN: token,
    TELEGRAM_ALLOW_FROM: allowFrom.join(','),
    ...ownerSetting('TELEGRAM_OWNER', owner, known),
    ...ownerSetting('TELEGRAM_WEBHOOK_URL', webhook, settings.TELEGRAM_WEBHOOK_URL),
  });
  const way = webhook === null ? '' : ` Telegram delivers to ${webhook} after the restart.`;
  const next =
    owner === null ? '' : ` Write to @${username}: ${owner} commands the assistant there.`;
  return {
    summary: `Telegram knows the bot, @${username}; ${namesOf(allowFrom)} may write to it. .env holds the token.${way}${next}`,
    data: { username, allowFrom, owner, webhook },
  };
}

/** Says whose ids these are, as far as the bot has met them: an id that is a phone number could be a stranger's. */
async function nameThem(
  { settings, say }: Context,
  token: string,
  ids: readonly string[],
): Promise<void> {
  const { TELEGRAM_API_ROOT: apiRoot } = settings;
  for (const id of ids.slice(0, MOST_NAMED)) {
    const user = readUser(id);
    if (user.kind !== 'id') continue;
    const who = await whoHas({ token, apiRoot }, id, TIMEOUT_MS);
    if (who === null) return;
    if (who !== 'nobody here') say(`${id} is ${who.name ?? 'somebody without a name'}.`);
    else if (user.isGuess) {
      say(
        `${id} has not written to the bot yet. If that is a phone number, leave with Ctrl-C: it could be the user id of a stranger.`,
      );
    }
  }
}

/**
 * Asks whether Telegram is to deliver to an address of the owner's.
 *
 * @returns the address; null for polling
 */
async function askForWebhook(
  { ask, say, settings }: Context,
  tryAddress: typeof tryWebhookAddress,
): Promise<string | null> {
  say(
    'The assistant fetches its messages from Telegram; that needs no address, and is right for most. If a public https ' +
      'address of yours leads to this machine (a tunnel, or a web server with a certificate), Telegram can deliver there ' +
      'instead (a webhook). That wakes an instance of a fleet that sleeps.',
  );
  const typed = await ask({
    message: 'Public https address for a webhook (- for none)',
    proposed: settings.TELEGRAM_WEBHOOK_URL ?? NONE,
    isOptional: true,
    async check(answer) {
      if (answer.trim() === NONE) return null;
      const tried = await tryAddress(answer.trim());
      if (!tried.ok) return tried.message;
      say(tried.message);
      return null;
    },
  });
  return typed.trim() === NONE ? null : typed.trim();
}

async function identityOf(context: Context, token: string): Promise<Identity> {
  if (!/^\d+:[\w-]+$/.test(token)) {
    return { ok: false, message: 'A token looks like 123456789:AAE…, as @BotFather shows it.' };
  }
  const { TELEGRAM_API_ROOT: apiRoot } = context.settings;
  return await identify({ token, apiRoot }, TIMEOUT_MS);
}
