import { accessProblem } from '../channels/matrix/access.ts';
import { identify } from '../channels/matrix/identity.ts';
import { accountOf, MatrixEnvironment } from '../channels/matrix/settings.ts';
import { defineChannelExamination } from './channel-examination.ts';
import { type Examination, ok } from './examination.ts';

const UNENCRYPTED = 'encryption is off: encrypted rooms are neither read nor answered';

/** The account: whether its homeserver takes the token, who may write to it, and how the channel does. */
export const examination = matrixExamination(20_000);

/** @param timeoutMs how long the homeserver has to answer */
export function matrixExamination(timeoutMs: number): Examination {
  return defineChannelExamination({
    area: 'matrix',
    order: 45,
    settings: MatrixEnvironment,
    setUp: '`npx claw setup matrix` sets server, account and people, and tries them.',
    absent: 'no account yet',
    accountOf,
    problemOf: accessProblem,
    untried: () => 'a token is set; the homeserver was not asked',
    remarks: ({ isEncrypting }) => (isEncrypting ? [] : [ok('matrix', UNENCRYPTED)]),
    async tryAccount(account) {
      const who = await identify(account, timeoutMs);
      return who.ok ? { ok: true, message: `the account is ${who.userId}` } : who;
    },
  });
}
