import { settingsProblem } from '../channels/slack/access.ts';
import { appOf, SlackEnvironment } from '../channels/slack/settings.ts';
import {
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

const TIMEOUT_MS = 20_000;
const WRONG_IDS =
  'Write your member id, such as U012AB3CD, with commas between several; * is everybody.';

type Context = SetupContext & OwnSettings<typeof SlackEnvironment.shape>;

/** Connects the assistant to an app of the owner's. */
export const setup = defineSetup({
  name: 'slack',
  help: 'connect the assistant to a Slack app of yours; skills/slack/SKILL.md tells how to make one',
  settings: SlackEnvironment,
  currentState({ settings }) {
    const app = appOf(settings);
    return app === null ? null : `tokens, and ${listOf(app.allowFrom)} may write`;
  },
  run: setUpSlack,
});

/** Asks for both tokens and ids, tries the tokens with Slack, and only then writes `.env`. */
async function setUpSlack(context: Context): Promise<SetupOutcome> {
  if (context.args.length > 0) {
    throw new SetupRefused(
      '`npx claw setup slack` takes no options: it asks, or reads three lines.',
      {
        isWrongUse: true,
      },
    );
  }
  // Slack's library takes a quarter of a second to load.
  const { identify, problemOfAppToken } = await import('../channels/slack/identity.ts');
  const limits = { apiUrl: context.settings.SLACK_API_URL, timeoutMs: TIMEOUT_MS };
  let app = '';
  const botToken = await context.ask({
    message: 'The bot token, from OAuth & Permissions',
    isSecret: true,
    async check(typed) {
      if (!typed.startsWith('xoxb-')) return 'A bot token begins with xoxb-.';
      const who = await identify(typed, limits);
      if (!who.ok) return who.message;
      app = `${who.user} in ${who.team}`;
      return null;
    },
  });
  context.say(`The app is ${app}.`);
  const appToken = await context.ask({
    message: 'The app token, from Basic Information',
    isSecret: true,
    check: (typed) =>
      typed.startsWith('xapp-')
        ? problemOfAppToken(typed, limits)
        : 'An app token begins with xapp-.',
  });
  const ids = await context.ask({
    message: 'Your member id, from your profile (of several people: with commas between them)',
    initial: context.settings.SLACK_ALLOW_FROM.join(','),
    check: (typed) =>
      settingsProblem({ botToken, appToken, allowFrom: listIn(typed) }) === null ? null : WRONG_IDS,
  });
  const allowFrom = listIn(ids);
  context.write({
    SLACK_BOT_TOKEN: botToken,
    SLACK_APP_TOKEN: appToken,
    SLACK_ALLOW_FROM: allowFrom.join(','),
  });
  return {
    summary: `Slack knows the app, ${app}; ${listOf(allowFrom)} may write to it. .env holds the tokens.`,
    data: { app, allowFrom },
  };
}

function listIn(typed: string): readonly string[] {
  return typed.split(/[\s,]+/).filter((id) => id !== '');
}

function listOf(allowFrom: readonly string[]): string {
  return allowFrom.includes('*') ? 'everybody' : allowFrom.join(', ') || 'nobody';
}
