import { settingsProblem } from '../channels/slack/access.ts';
import { appOf, SlackEnvironment, type SlackSettings } from '../channels/slack/settings.ts';
import { type AccountTrial, defineChannelExamination } from './channel-examination.ts';
import { type Examination, problem } from './examination.ts';

const SET_UP = '`npx claw setup slack` sets tokens and ids, and tries them.';

/** The app: whether Slack takes both of its tokens, who may write to it, and how the channel does. */
export const examination = slackExamination(20_000);

/** @param timeoutMs how long Slack has for each answer */
export function slackExamination(timeoutMs: number): Examination {
  return defineChannelExamination({
    area: 'slack',
    order: 44,
    settings: SlackEnvironment,
    setUp: SET_UP,
    absent: 'no app yet',
    accountOf: appOf,
    problemOf: settingsProblem,
    untried: ({ botToken, appToken }) =>
      botToken === null || appToken === null ? null : 'tokens are set; Slack was not asked',
    tryAccount: (app) => tryTokens(app, timeoutMs),
  });
}

async function tryTokens(
  { botToken, appToken, apiUrl }: SlackSettings,
  timeoutMs: number,
): Promise<AccountTrial | null> {
  if (botToken === null || appToken === null) return null;
  // Slack's library takes a quarter of a second to load.
  const { identify, problemOfAppToken } = await import('../channels/slack/identity.ts');
  const limits = { apiUrl, timeoutMs };
  const [who, appProblem] = await Promise.all([
    identify(botToken, limits),
    problemOfAppToken(appToken, limits),
  ]);
  const findings = appProblem === null ? [] : [problem('slack', appProblem, SET_UP)];
  return who.ok
    ? { ok: true, message: `the app is ${who.user} in ${who.team}`, findings }
    : { ...who, findings };
}
