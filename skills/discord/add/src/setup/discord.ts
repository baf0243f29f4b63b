import { allowListProblem } from '../channels/discord/access.ts';
import { isSnowflake } from '../channels/discord/jid.ts';
import { botOf, DiscordEnvironment } from '../channels/discord/settings.ts';
import { askAllowList, askForOwner, askTried, namesOf, ownerSetting } from './channel-questions.ts';
import { defineSetup, type OwnSettings, type SetupContext, type SetupOutcome } from './step.ts';

const TIMEOUT_MS = 20_000;
const WRONG_IDS =
  'Write your user id, a number such as 100000000000000001, with commas between several; * is everybody.';

type Context = SetupContext & OwnSettings<typeof DiscordEnvironment.shape>;

/** Connects the assistant to a bot of the owner's. */
export const setup = defineSetup({
  name: 'discord',
  help: 'connect the assistant to a Discord bot of yours; skills/discord/SKILL.md tells how to make one',
  settings: DiscordEnvironment,
  currentState({ settings }) {
    const bot = botOf(settings);
    return bot === null ? null : `a token, and ${namesOf(bot.allowFrom)} may write`;
  },
  run: setUpDiscord,
});

/** Asks for token and ids, tries the token with Discord, and only then writes `.env`. */
async function setUpDiscord(context: Context): Promise<SetupOutcome> {
  const { ask, settings } = context;
  // Discord's library takes a moment to load.
  const { identify, inviteLink, NO_MESSAGE_CONTENT } = await import(
    '../channels/discord/identity.ts'
  );
  const { typed: token, found } = await askTried(
    ask,
    { message: 'The token of your bot, from the page Bot of your application', isSecret: true },
    async (typed) => {
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(typed)) {
        const message =
          'A token has three parts with dots between them. The page Bot shows it after Reset Token.';
        return { ok: false, message };
      }
      return await identify({ token: typed, apiUrl: settings.DISCORD_API_URL }, TIMEOUT_MS);
    },
  );
  const { name, applicationId, readsMessages } = found;
  context.say(`The bot is ${name}.`);
  if (!readsMessages) context.say(NO_MESSAGE_CONTENT);
  const invitation = inviteLink(applicationId);
  context.say(`This adds it to a server of yours: ${invitation}`);
  const allowFrom = await askAllowList(ask, {
    message: 'Your user id, by Copy User ID (of several people: with commas between them)',
    initial: settings.DISCORD_ALLOW_FROM.join(','),
    check: (ids) => (allowListProblem(ids) === null ? null : WRONG_IDS),
  });
  const { DISCORD_OWNER: known } = settings;
  const owner = await askForOwner(ask, {
    known,
    allowFrom,
    check: (id) =>
      isSnowflake(id) ? null : 'Write a user id, a number such as 100000000000000001, or -.',
  });
  context.write({
    DISCORD_BOT_TOKEN: token,
    DISCORD_ALLOW_FROM: allowFrom.join(','),
    ...ownerSetting('DISCORD_OWNER', owner, known),
  });
  const next = owner === null ? '' : ` ${owner} commands the assistant in a direct chat with it.`;
  return {
    summary: `Discord knows the bot, ${name}; ${namesOf(allowFrom)} may write to it. .env holds the token.${next}`,
    data: { name, allowFrom, owner, invitation, readsMessages },
  };
}
