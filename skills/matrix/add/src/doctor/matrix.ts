import { accessProblem } from '../channels/matrix/access.ts';
import { identify } from '../channels/matrix/identity.ts';
import { accountOf, MatrixEnvironment } from '../channels/matrix/settings.ts';
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

const AREA = 'matrix';
const SET_UP = '`npx claw setup matrix` sets server, account and people, and tries them.';

/** The account: whether its homeserver takes the token, who may write to it, and how the channel does. */
export const examination = matrixExamination(20_000);

/** @param timeoutMs how long the homeserver has to answer */
export function matrixExamination(timeoutMs: number): Examination {
  return defineExamination({
    area: AREA,
    order: 45,
    settings: MatrixEnvironment,
    async examine(subject, own) {
      const account = accountOf(own);
      if (account === null) return [ok(AREA, 'no account yet', SET_UP)];
      const wrong = accessProblem(account);
      const list = wrong === null ? [] : [problem(AREA, wrong, SET_UP)];
      const encryption = account.isEncrypting
        ? []
        : [ok(AREA, 'encryption is off: encrypted rooms are neither read nor answered')];
      if (subject.isOffline) {
        return [ok(AREA, 'a token is set; the homeserver was not asked'), ...encryption, ...list];
      }
      const who = await identify(account, timeoutMs);
      if (!who.ok) return [problem(AREA, who.message, SET_UP), ...encryption, ...list];
      return [stateFinding(subject, `the account is ${who.userId}`), ...encryption, ...list];
    },
  });
}

/** Reports the state that the running assistant last noted for the channel. */
function stateFinding({ dataDir }: Subject, account: string): Finding {
  const last = isRunning(dataDir) ? lastChannelState(dataDir, AREA) : null;
  if (last === null) return ok(AREA, account);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected' && last.detail === null) {
    return ok(AREA, `${account}, connected since ${since}`);
  }
  const message = `${account}, but the channel is ${last.state} since ${since}. ${last.detail ?? ''}`;
  return problem(AREA, message.trim(), '`npx claw logs --level warn` tells more.');
}
