import { allowListProblem } from '../channels/signal/access.ts';
import { accountProblem, findSignalCli } from '../channels/signal/identity.ts';
import { accountOf, SignalEnvironment } from '../channels/signal/settings.ts';
import { defineChannelExamination } from './channel-examination.ts';
import type { Examination } from './examination.ts';

/** The account: whether signal-cli is there and has it, who may write to it, and how the channel does. */
export const examination = signalExamination(20_000);

/** @param timeoutMs how long signal-cli has to answer */
export function signalExamination(timeoutMs: number): Examination {
  return defineChannelExamination({
    area: 'signal',
    order: 46,
    settings: SignalEnvironment,
    setUp: '`npx claw setup signal` finds signal-cli, and links an account.',
    absent: 'no account yet',
    accountOf,
    problemOf: ({ allowFrom }) => allowListProblem(allowFrom),
    untried: ({ account }) => `${account}; signal-cli was not asked`,
    async tryAccount({ account, url }) {
      const found = await findSignalCli(url, timeoutMs);
      if (!found.ok) return { ok: false, message: found.message };
      const message = accountProblem(found.accounts, account);
      return message === null
        ? { ok: true, message: `signal-cli has ${account}` }
        : { ok: false, message };
    },
  });
}
