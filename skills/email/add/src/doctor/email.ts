import { accountProblem } from '../channels/email/access.ts';
import { accountOf, type EmailAccount, EmailEnvironment } from '../channels/email/settings.ts';
import { defineChannelExamination } from './channel-examination.ts';
import { type Examination, type Finding, ok, problem } from './examination.ts';

/** The account: whether both servers let us in, whether senders are checked, and how the channel does. */
export const examination = emailExamination(30_000);

/** @param timeoutMs how long each server has to answer */
export function emailExamination(timeoutMs: number): Examination {
  return defineChannelExamination({
    area: 'email',
    order: 48,
    settings: EmailEnvironment,
    setUp: '`npx claw setup email` asks for the account, and tries it.',
    absent: 'no account yet',
    accountOf,
    problemOf: accountProblem,
    untried: () => 'an account is set; its servers were not asked',
    remarks: uncheckedSenders,
    async tryAccount(account) {
      // The libraries take a moment to load.
      const { tryAccount } = await import('../channels/email/try-account.ts');
      const trial = await tryAccount(account, timeoutMs);
      if (!trial.ok) return trial;
      const message = `both servers of ${account.address} let us in`;
      return { ok: true, message, findings: otherSigners(account, trial.signers) };
    },
  });
}

function uncheckedSenders({ checksSenders }: EmailAccount): readonly Finding[] {
  if (checksSenders) return [];
  const message = 'anybody can write in the name of those who may: senders are not checked';
  const advice =
    'With EMAIL_AUTHSERV_ID the results of your server are checked; `npx claw setup email` finds it.';
  return [ok('email', message, advice)];
}

function otherSigners(
  { authservId }: EmailAccount,
  signers: readonly string[],
): readonly Finding[] {
  if (authservId === null || signers.length === 0 || signers.includes(authservId)) return [];
  const seen = `The last mails are signed by ${signers.join(', ')}, not by ${authservId}: all would be dropped.`;
  return [problem('email', seen, 'Correct EMAIL_AUTHSERV_ID in .env and restart.')];
}
