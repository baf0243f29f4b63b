import { accountProblem } from '../channels/email/access.ts';
import { accountOf, EmailEnvironment } from '../channels/email/settings.ts';
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

const AREA = 'email';
const SET_UP = '`npx claw setup email` asks for the account, and tries it.';

/** The account: whether both servers let us in, whether senders are checked, and how the channel does. */
export const examination = emailExamination(30_000);

/** @param timeoutMs how long each server has to answer */
export function emailExamination(timeoutMs: number): Examination {
  return defineExamination({
    area: AREA,
    order: 48,
    settings: EmailEnvironment,
    async examine(subject, own) {
      const account = accountOf(own);
      if (account === null) return [ok(AREA, 'no account yet', SET_UP)];
      const wrong = accountProblem(account);
      const others = wrong === null ? [] : [problem(AREA, wrong, SET_UP)];
      if (!account.checksSenders) {
        const advice =
          'With EMAIL_AUTHSERV_ID the results of your server are checked; `npx claw setup email` finds it.';
        others.push(
          ok(
            AREA,
            'anybody can write in the name of those who may: senders are not checked',
            advice,
          ),
        );
      }
      if (subject.isOffline)
        return [ok(AREA, 'an account is set; its servers were not asked'), ...others];
      // The libraries take a moment to load.
      const { tryAccount } = await import('../channels/email/try-account.ts');
      const trial = await tryAccount(account, timeoutMs);
      if (!trial.ok) return [problem(AREA, trial.message, SET_UP), ...others];
      const isSigned =
        account.authservId === null ||
        trial.signers.length === 0 ||
        trial.signers.includes(account.authservId);
      if (!isSigned) {
        const seen = `The last mails are signed by ${trial.signers.join(', ')}, not by ${account.authservId}: all would be dropped.`;
        others.push(problem(AREA, seen, 'Correct EMAIL_AUTHSERV_ID in .env and restart.'));
      }
      return [stateFinding(subject, account.address), ...others];
    },
  });
}

/** Reports the state that the running assistant last noted for the channel. */
function stateFinding({ dataDir }: Subject, address: string): Finding {
  const account = `both servers of ${address} let us in`;
  const last = isRunning(dataDir) ? lastChannelState(dataDir, AREA) : null;
  if (last === null) return ok(AREA, account);
  const since = new Date(last.time).toLocaleString('sv');
  if (last.state === 'connected') return ok(AREA, `${account}, connected since ${since}`);
  const message = `${account}, but the channel is ${last.state} since ${since}. ${last.detail ?? ''}`;
  return problem(AREA, message.trim(), '`npx claw logs --level warn` tells more.');
}
