import { allowListProblem } from '../channels/signal/access.ts';
import { accountProblem, findSignalCli } from '../channels/signal/identity.ts';
import { accountOf, SignalEnvironment } from '../channels/signal/settings.ts';
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

const AREA = 'signal';
const SET_UP = '`npx claw setup signal` finds signal-cli, and links an account.';

/** The account: whether signal-cli is there and has it, who may write to it, and how the channel does. */
export const examination = signalExamination(20_000);

/** @param timeoutMs how long signal-cli has to answer */
export function signalExamination(timeoutMs: number): Examination {
  return defineExamination({
    area: AREA,
    order: 46,
    settings: SignalEnvironment,
    async examine(subject, own) {
      const settings = accountOf(own);
      if (settings === null) return [ok(AREA, 'no account yet', SET_UP)];
      const wrong = allowListProblem(settings.allowFrom);
      const list = wrong === null ? [] : [problem(AREA, wrong, SET_UP)];
      const { account, url } = settings;
      if (subject.isOffline) return [ok(AREA, `${account}; signal-cli was not asked`), ...list];
      const found = await findSignalCli(url, timeoutMs);
      const trouble = found.ok ? accountProblem(found.accounts, account) : found.message;
      const finding =
        trouble === null ? stateFinding(subject, account) : problem(AREA, trouble, SET_UP);
      return [finding, ...list];
    },
  });
}

/** Reports the state that the running assistant last noted for the channel. */
function stateFinding({ dataDir }: Subject, account: string): Finding {
  const last = isRunning(dataDir) ? lastChannelState(dataDir, AREA) : null;
  if (last === null) return ok(AREA, `signal-cli has ${account}`);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected') return ok(AREA, `${account}, connected since ${since}`);
  const message = `${account}, but the channel is ${last.state} since ${since}. ${last.detail ?? ''}`;
  return problem(AREA, message.trim(), '`claw logs --level warn` tells more.');
}
