import { accessProblem, allowListProblem } from '../channels/matrix/access.ts';
import { findHomeserver, identify, logIn } from '../channels/matrix/identity.ts';
import { isUserId } from '../channels/matrix/jid.ts';
import { accountOf, MatrixEnvironment } from '../channels/matrix/settings.ts';
import { askAllowList, askForOwner, askTried, namesOf, ownerSetting } from './channel-questions.ts';
import {
  askTogether,
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

const WRONG_PEOPLE =
  'Write your user id, such as @ada:example.org, with commas between several; * is everybody.';

const TIMEOUT_MS = 20_000;

type Context = SetupContext & OwnSettings<typeof MatrixEnvironment.shape>;

/** Connects the assistant to an account of its own on Matrix. */
export const setup = defineSetup({
  name: 'matrix',
  help: 'connect the assistant to an account of its own on Matrix; skills/matrix/SKILL.md tells how to make one',
  settings: MatrixEnvironment,
  currentState({ settings }) {
    const account = accountOf(settings);
    if (account === null) return null;
    const state = `a token for ${new URL(account.homeserver).host}`;
    const problem = accessProblem(account);
    return problem === null ? `${state}, and ${namesOf(account.allowFrom)} may write` : state;
  },
  run: setUpMatrix,
});

/** Asks for server, account and people, tries the account with its homeserver, and only then writes `.env`. */
async function setUpMatrix(context: Context): Promise<SetupOutcome> {
  const homeserver = await askHomeserver(context);
  const { token, userId, deviceId } = await askAccount(context, homeserver);
  context.say(`The account is ${userId}${deviceId === '' ? '' : `, device ${deviceId}`}.`);
  const isOn = context.settings.MATRIX_ENCRYPTION === 'on';
  context.say(
    isOn
      ? 'Rooms with end-to-end encryption work: the keys are kept in data/databases, so keep that folder to yourself.'
      : 'MATRIX_ENCRYPTION is off: in encrypted rooms the assistant neither reads nor answers.',
  );
  const { MATRIX_ALLOW_FROM: listed, MATRIX_OWNER: before } = context.settings;
  const allowFrom = await askAllowList(context.ask, {
    message: 'Your own user id, such as @ada:example.org (of several people: with commas)',
    initial: listed.join(','),
    check(ids) {
      if (ids.includes(userId)) return `${userId} is the account of the assistant. Write your own.`;
      return allowListProblem(ids) === null ? null : WRONG_PEOPLE;
    },
  });
  const owner = await askForOwner(context.ask, {
    known: before,
    allowFrom,
    check: (id) =>
      isUserId(id) && id !== userId
        ? null
        : 'Write your own user id, such as @ada:example.org, or -.',
  });
  context.write({
    MATRIX_HOMESERVER: homeserver,
    MATRIX_TOKEN: token,
    MATRIX_ALLOW_FROM: allowFrom.join(','),
    ...ownerSetting('MATRIX_OWNER', owner, before),
  });
  const next = owner === null ? '' : ` ${owner} commands the assistant in a direct chat with it.`;
  return {
    summary: `The homeserver knows the account, ${userId}; ${namesOf(allowFrom)} may write to it. .env holds the token.${next}`,
    data: { userId, homeserver, allowFrom, owner, isEncrypting: isOn },
  };
}

async function askHomeserver(context: Context): Promise<string> {
  const question = {
    message: 'The homeserver of the account, such as matrix.org',
    initial: context.settings.MATRIX_HOMESERVER ?? '',
  };
  const { found } = await askTried(context.ask, question, (typed) =>
    findHomeserver(typed, TIMEOUT_MS),
  );
  return found.homeserver;
}

type FoundAccount = { readonly token: string; readonly userId: string; readonly deviceId: string };

/** The account is logged in by user name and password, as a device of its own; or a token is given. */
async function askAccount(context: Context, homeserver: string): Promise<FoundAccount> {
  const found: { account: FoundAccount | null } = { account: null };
  async function tryToken(token: string): Promise<string | null> {
    const who = await identify({ homeserver, token }, TIMEOUT_MS);
    if (!who.ok) return who.message;
    found.account = { token, userId: who.userId, deviceId: who.deviceId };
    return null;
  }
  await askTogether(
    context.ask,
    async () => {
      const typed = await context.ask({
        message:
          'The user name of the account, such as andy or @andy:example.org; or the word token, to give a token',
        check: (word) =>
          isUserName(word.trim())
            ? null
            : 'Write the user name of the account that the assistant gets.',
      });
      return typed.trim();
    },
    (user) =>
      user === 'token'
        ? {
            message: 'The access token of the account',
            isSecret: true,
            check: (token) => tryToken(token.trim()),
          }
        : {
            message: `The password of ${user}; it is used once, and not kept`,
            isSecret: true,
            async check(password) {
              const outcome = await logIn(homeserver, { user, password }, TIMEOUT_MS);
              return 'problem' in outcome ? outcome.problem : await tryToken(outcome.token);
            },
          },
  );
  if (found.account === null) throw new SetupRefused('The answer was not tried.');
  return found.account;
}

function isUserName(typed: string): boolean {
  return isUserId(typed) || /^@?[a-z0-9._=/+-]{1,64}$/i.test(typed);
}
