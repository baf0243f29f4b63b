import { allowListProblem } from '../channels/discord/access.ts';
import type { Bot } from '../channels/discord/identity.ts';
import { isSnowflake } from '../channels/discord/jid.ts';
import { botOf, DiscordEnvironment } from '../channels/discord/settings.ts';
import {
  askForOwner,
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

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
    return bot === null ? null : `a token, and ${listOf(bot.allowFrom)} may write`;
  },
  run: setUpDiscord,
});

/** Asks for token and ids, tries the token with Discord, and only then writes `.env`. */
async function setUpDiscord(context: Context): Promise<SetupOutcome> {
  if (context.args.length > 0) {
    throw new SetupRefused(
      '`npx claw setup discord` takes no options: it asks, or reads three lines.',
      {
        isWrongUse: true,
      },
    );
  }
  // Discord's library takes a moment to load.
  const { identify, inviteLink, NO_MESSAGE_CONTENT } = await import(
    '../channels/discord/identity.ts'
  );
  const found: { bot: Bot | null } = { bot: null };
  const token = await context.ask({
    message: 'The token of your bot, from the page Bot of your application',
    isSecret: true,
    async check(typed) {
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(typed)) {
        return 'A token has three parts with dots between them. The page Bot shows it after Reset Token.';
      }
      const { DISCORD_API_URL: apiUrl } = context.settings;
      const who = await identify({ token: typed, apiUrl }, TIMEOUT_MS);
      if (!who.ok) return who.message;
      found.bot = who;
      return null;
    },
  });
  const { name, applicationId, readsMessages } = botIn(found);
  context.say(`The bot is ${name}.`);
  if (!readsMessages) context.say(NO_MESSAGE_CONTENT);
  const invitation = inviteLink(applicationId);
  context.say(`This adds it to a server of yours: ${invitation}`);
  const ids = await context.ask({
    message: 'Your user id, by Copy User ID (of several people: with commas between them)',
    initial: context.settings.DISCORD_ALLOW_FROM.join(','),
    check: (typed) => (allowListProblem(listIn(typed)) === null ? null : WRONG_IDS),
  });
  const allowFrom = listIn(ids);
  const { DISCORD_OWNER: known } = context.settings;
  const owner = await askForOwner(context.ask, {
    known,
    allowFrom,
    check: (id) =>
      isSnowflake(id) ? null : 'Write a user id, a number such as 100000000000000001, or -.',
  });
  context.write({
    DISCORD_BOT_TOKEN: token,
    DISCORD_ALLOW_FROM: allowFrom.join(','),
    // Emptied where it is set: who was the owner would command on.
    ...(owner === null && known === undefined ? {} : { DISCORD_OWNER: owner ?? '' }),
  });
  const next = owner === null ? '' : ` ${owner} commands the assistant in a direct chat with it.`;
  return {
    summary: `Discord knows the bot, ${name}; ${listOf(allowFrom)} may write to it. .env holds the token.${next}`,
    data: { name, allowFrom, owner, invitation, readsMessages },
  };
}

function botIn({ bot }: { readonly bot: Bot | null }): Bot {
  if (bot === null) throw new SetupRefused('The token was not tried.');
  return bot;
}

function listIn(typed: string): readonly string[] {
  return typed.split(/[\s,]+/).filter((id) => id !== '');
}

function listOf(allowFrom: readonly string[]): string {
  return allowFrom.includes('*') ? 'everybody' : allowFrom.join(', ') || 'nobody';
}
