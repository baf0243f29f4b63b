import { settingsProblem } from '../channels/slack/access.ts';
import { appOf, SlackEnvironment } from '../channels/slack/settings.ts';
import { isRunning } from '../supervisor/instance-lock.ts';
import {
  defineExamination,
  type Examination,
  type Finding,
  ok,
  problem,
  type Subject,
} from './examination.ts';
import { lastChannelState } from './last-state.ts';

const AREA = 'slack';
const SET_UP = '`npx claw setup slack` sets tokens and ids, and tries them.';

/** The app: whether Slack takes both of its tokens, who may write to it, and how the channel does. */
export const examination = slackExamination(20_000);

/** @param timeoutMs how long Slack has for each answer */
export function slackExamination(timeoutMs: number): Examination {
  return defineExamination({
    area: AREA,
    order: 44,
    settings: SlackEnvironment,
    async examine(subject, own) {
      const app = appOf(own);
      if (app === null) return [ok(AREA, 'no app yet', SET_UP)];
      const { botToken, appToken, apiUrl } = app;
      const wrong = settingsProblem(app);
      const list = wrong === null ? [] : [problem(AREA, wrong, SET_UP)];
      if (botToken === null || appToken === null) return list;
      if (subject.isOffline) return [ok(AREA, 'tokens are set; Slack was not asked'), ...list];
      // Slack's library takes a quarter of a second to load.
      const { identify, problemOfAppToken } = await import('../channels/slack/identity.ts');
      const limits = { apiUrl, timeoutMs };
      const [who, appProblem] = await Promise.all([
        identify(botToken, limits),
        problemOfAppToken(appToken, limits),
      ]);
      const bot = who.ok
        ? stateFinding(subject, `the app is ${who.user} in ${who.team}`)
        : problem(AREA, who.message, SET_UP);
      return [bot, ...(appProblem === null ? [] : [problem(AREA, appProblem, SET_UP)]), ...list];
    },
  });
}

/** Reports the state that the running assistant last noted for the channel. */
function stateFinding({ dataDir }: Subject, app: string): Finding {
  const last = isRunning(dataDir) ? lastChannelState(dataDir, AREA) : null;
  if (last === null) return ok(AREA, app);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected') return ok(AREA, `${app}, connected since ${since}`);
  const message = `${app}, but the channel is ${last.state} since ${since}. ${last.detail ?? ''}`;
  return problem(AREA, message.trim(), '`claw logs --level warn` tells more.');
}
