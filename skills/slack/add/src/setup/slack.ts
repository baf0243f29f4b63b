import { allowListProblem } from '../channels/slack/access.ts';
import { appOf, SlackEnvironment } from '../channels/slack/settings.ts';
import { askAllowList, askTried, namesOf } from './channel-questions.ts';
import { defineSetup, type OwnSettings, type SetupContext, type SetupOutcome } from './step.ts';

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
    return app === null ? null : `tokens, and ${namesOf(app.allowFrom)} may write`;
  },
  run: setUpSlack,
});

/** Asks for both tokens and ids, tries the tokens with Slack, and only then writes `.env`. */
async function setUpSlack(context: Context): Promise<SetupOutcome> {
  const { ask, settings } = context;
  // Slack's library takes a quarter of a second to load.
  const { identify, problemOfAppToken } = await import('../channels/slack/identity.ts');
  const limits = { apiUrl: settings.SLACK_API_URL, timeoutMs: TIMEOUT_MS };
  const { typed: botToken, found } = await askTried(
    ask,
    { message: 'The bot token, from OAuth & Permissions', isSecret: true },
    async (typed) =>
      typed.startsWith('xoxb-')
        ? await identify(typed, limits)
        : { ok: false, message: 'A bot token begins with xoxb-.' },
  );
  const app = `${found.user} in ${found.team}`;
  context.say(`The app is ${app}.`);
  const appToken = await ask({
    message: 'The app token, from Basic Information',
    isSecret: true,
    check: (typed) =>
      typed.startsWith('xapp-')
        ? problemOfAppToken(typed, limits)
        : 'An app token begins with xapp-.',
  });
  const allowFrom = await askAllowList(ask, {
    message: 'Your member id, from your profile (of several people: with commas between them)',
    initial: settings.SLACK_ALLOW_FROM.join(','),
    check: (ids) => (allowListProblem(ids) === null ? null : WRONG_IDS),
  });
  context.write({
    SLACK_BOT_TOKEN: botToken,
    SLACK_APP_TOKEN: appToken,
    SLACK_ALLOW_FROM: allowFrom.join(','),
  });
  return {
    summary: `Slack knows the app, ${app}; ${namesOf(allowFrom)} may write to it. .env holds the tokens.`,
    data: { app, allowFrom },
  };
}
