import { allowListProblem } from '../channels/discord/access.ts';
import { botOf, DiscordEnvironment } from '../channels/discord/settings.ts';
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

const AREA = 'discord';
const SET_UP = '`npx claw setup discord` sets token and ids, and tries them.';

/** The bot: whether Discord takes its token, what it may read, who may write to it, and how the channel does. */
export const examination = discordExamination(20_000);

/** @param timeoutMs how long Discord has for each answer */
export function discordExamination(timeoutMs: number): Examination {
  return defineExamination({
    area: AREA,
    order: 44,
    settings: DiscordEnvironment,
    async examine(subject, own) {
      const bot = botOf(own);
      if (bot === null) return [ok(AREA, 'no bot yet', SET_UP)];
      const wrong = allowListProblem(bot.allowFrom);
      const list = wrong === null ? [] : [problem(AREA, wrong, SET_UP)];
      if (subject.isOffline) return [ok(AREA, 'a token is set; Discord was not asked'), ...list];
      // Discord's library takes a moment to load.
      const { identify, inviteLink, NO_MESSAGE_CONTENT } = await import(
        '../channels/discord/identity.ts'
      );
      const who = await identify(bot, timeoutMs);
      if (!who.ok) return [problem(AREA, who.message, SET_UP), ...list];
      const reading = who.readsMessages
        ? []
        : [problem(AREA, NO_MESSAGE_CONTENT, `To add the bot: ${inviteLink(who.applicationId)}`)];
      return [stateFinding(subject, `the bot is ${who.name}`), ...reading, ...list];
    },
  });
}

/** Reports the state that the running assistant last noted for the channel. */
function stateFinding({ dataDir }: Subject, bot: string): Finding {
  const last = isRunning(dataDir) ? lastChannelState(dataDir, AREA) : null;
  if (last === null) return ok(AREA, bot);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected') return ok(AREA, `${bot}, connected since ${since}`);
  const message = `${bot}, but the channel is ${last.state} since ${since}. ${last.detail ?? ''}`;
  return problem(AREA, message.trim(), '`npx claw logs --level warn` tells more.');
}
