import { allowListProblem } from '../channels/telegram/access.ts';
import { identify } from '../channels/telegram/identity.ts';
import { botOf, TelegramEnvironment } from '../channels/telegram/settings.ts';
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

const AREA = 'telegram';
const SET_UP = '`npx claw setup telegram` sets token and ids, and tries them.';

/** The bot: whether Telegram knows its token, who may write to it, and how the channel does. */
export const examination = telegramExamination(20_000);

/** @param timeoutMs how long Telegram has to answer */
export function telegramExamination(timeoutMs: number): Examination {
  return defineExamination({
    area: AREA,
    order: 42,
    settings: TelegramEnvironment,
    async examine(subject, own) {
      const bot = botOf(own);
      if (bot === null) return [ok(AREA, 'no bot yet', SET_UP)];
      const wrong = allowListProblem(bot.allowFrom);
      const list = wrong === null ? [] : [problem(AREA, wrong, SET_UP)];
      if (subject.isOffline) return [ok(AREA, 'a token is set; Telegram was not asked'), ...list];
      const who = await identify(bot, timeoutMs);
      if (!who.ok) return [problem(AREA, who.message, SET_UP), ...list];
      return [stateFinding(subject, `the bot is @${who.username}`), ...list];
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
  return problem(AREA, message.trim(), '`claw logs --level warn` tells more.');
}
