import { settingsProblem } from '../channels/slack/access.ts';
import { type SetupContext, type SetupOutcome, SetupRefused, type SetupStep } from './step.ts';

const TIMEOUT_MS = 20_000;

/** Connects the assistant to an app of the owner's. */
export const setup: SetupStep = {
  name: 'slack',
  help: 'connect the assistant to a Slack app of yours; skills/slack/SKILL.md tells how to make one',
  standing({ slack }) {
    return slack === null ? null : `tokens, and ${listOf(slack.allowFrom)} may write`;
  },
  run: setUpSlack,
};

/** Asks for both tokens and ids, tries the tokens with Slack, and only then writes `.env`. */
async function setUpSlack(context: SetupContext): Promise<SetupOutcome> {
  if (context.args.length > 0) {
    throw new SetupRefused('`claw setup slack` takes no options: it asks, or reads three lines.', {
      isWrongUse: true,
    });
  }
  // Slack's library takes a quarter of a second to load.
  const { identify, problemOfAppToken } = await import('../channels/slack/identity.ts');
  let app = '';
  const botToken = await context.ask({
    message: 'The bot token, from OAuth & Permissions',
    isSecret: true,
    async check(typed) {
      if (!typed.startsWith('xoxb-')) return 'A bot token begins with xoxb-.';
      const who = await identify(typed, limitsOf(context, { SLACK_BOT_TOKEN: typed }));
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
        ? problemOfAppToken(typed, limitsOf(context, { SLACK_APP_TOKEN: typed }))
        : 'An app token begins with xapp-.',
  });
  const ids = await context.ask({
    message: 'Your member id, from your profile (of several people: with commas between them)',
    initial: context.settings.slack?.allowFrom.join(',') ?? '',
    check: (typed) => settingsProblem({ botToken, appToken, allowFrom: listIn(typed) }),
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

function limitsOf(context: SetupContext, values: Readonly<Record<string, string>>) {
  const { slack } = context.settingsWith(values);
  if (slack === null) throw new SetupRefused('The tokens cannot be read from .env.');
  return { apiUrl: slack.apiUrl, timeoutMs: TIMEOUT_MS };
}

function listIn(typed: string): readonly string[] {
  return typed.split(/[\s,]+/).filter((id) => id !== '');
}

function listOf(allowFrom: readonly string[]): string {
  return allowFrom.includes('*') ? 'everybody' : allowFrom.join(', ') || 'nobody';
}
