import { allowListProblem } from '../channels/email/access.ts';
import { accountOf, EmailEnvironment, serverOf } from '../channels/email/settings.ts';
import type { Trial } from '../channels/email/try-account.ts';
import { askAllowList, namesOf } from './channel-questions.ts';
import {
  askTogether,
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
} from './step.ts';

const TIMEOUT_MS = 30_000;

type Context = SetupContext & OwnSettings<typeof EmailEnvironment.shape>;
type Values = Readonly<Record<string, string>>;
type Setting = 'EMAIL_ADDRESS' | 'EMAIL_IMAP' | 'EMAIL_SMTP';

/** Connects the assistant to a mail account. */
export const setup = defineSetup({
  name: 'email',
  help: 'connect the assistant to a mail account of its own; skills/email/SKILL.md tells what it needs',
  settings: EmailEnvironment,
  currentState({ settings }) {
    const account = accountOf(settings);
    return account === null
      ? null
      : `${account.address}, and ${namesOf(account.allowFrom)} may write`;
  },
  run: setUpEmail,
});

/** Asks for account and servers, tries each, logs in at both, and only then writes `.env`. */
async function setUpEmail(context: Context): Promise<SetupOutcome> {
  const { settings } = context;
  const address = await askFor(
    context,
    'EMAIL_ADDRESS',
    'The mail address of the assistant (an account of its own)',
  );
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const imap = await askFor(
    context,
    'EMAIL_IMAP',
    'The IMAP server (with TLS; name, or name:port)',
    `imap.${domain}`,
  );
  const smtp = await askFor(
    context,
    'EMAIL_SMTP',
    'The SMTP server for outgoing mail (with TLS)',
    `smtp.${domain}`,
  );
  const servers = { EMAIL_ADDRESS: address, EMAIL_IMAP: imap, EMAIL_SMTP: smtp };
  const found: { trial: Extract<Trial, { ok: true }> | null } = { trial: null };
  const { before: values, last: password } = await askTogether(
    context.ask,
    async (answered: Values | null) => {
      const typed = await context.ask({
        message: 'The user name there',
        proposed: answered?.['EMAIL_USERNAME'] || settings.EMAIL_USERNAME || address,
        check: () => null,
      });
      const username = typed.trim();
      return { ...servers, EMAIL_USERNAME: username === address ? '' : username };
    },
    (named) => ({
      message: 'Its password (of many providers: one made for one app)',
      isSecret: true,
      async check(typed) {
        const trial = await trialOf(context, { ...named, EMAIL_PASSWORD: typed });
        if (!trial.ok) return trial.message;
        found.trial = trial;
        return null;
      },
    }),
  );
  const { hasIdle = false, signers = [] } = found.trial ?? {};
  const news = hasIdle ? 'tells of new mail at once' : 'is asked for new mail every minute';
  context.say(`Both servers let us in over TLS; the mailbox ${news}.`);
  const check = await askCheck(context, signers);
  const allowFrom = await askAllowList(context.ask, {
    message: 'Who may write: mail addresses, with commas between them',
    initial: settings.EMAIL_ALLOW_FROM.join(','),
    check: allowListProblem,
  });
  context.write({
    ...values,
    EMAIL_PASSWORD: password,
    ...check,
    EMAIL_ALLOW_FROM: allowFrom.join(','),
  });
  return {
    summary: `The assistant reads and writes mail as ${address}; ${namesOf(allowFrom)} may write to it. .env holds the settings.`,
    data: { address, allowFrom, hasIdle, ...check },
  };
}

async function askFor(
  context: Context,
  name: Setting,
  message: string,
  guess = '',
): Promise<string> {
  const proposed = context.settings[name] ?? guess;
  const typed = await context.ask({
    message,
    ...(proposed === '' ? {} : { proposed }),
    async check(answer) {
      const { error } = EmailEnvironment.shape[name].safeParse(answer);
      if (error !== undefined || answer.trim() === '') {
        return `It ${error?.issues[0]?.message ?? 'must not be empty'}.`;
      }
      return name === 'EMAIL_ADDRESS' ? null : await lineProblem(context, name, answer);
    },
  });
  return name === 'EMAIL_ADDRESS' ? typed.trim().toLowerCase() : typed.trim();
}

/** Asks by which name the server signs what it found out about senders; `off` switches the check off. */
async function askCheck(
  { ask, say, settings }: Context,
  signers: readonly string[],
): Promise<Values> {
  const [first] = signers;
  if (first === undefined) {
    say(
      'No mail in the mailbox has Authentication-Results yet. Send one from another provider, look at its source for ' +
        '"Authentication-Results:", and type the word that follows. Type off only where your server takes mail from your own people alone.',
    );
  }
  const proposed = settings.EMAIL_AUTHSERV_ID || first;
  const typed = await ask({
    message:
      'The name in the Authentication-Results of your server (off checks no senders: anybody can write any name)',
    ...(proposed === undefined ? {} : { proposed }),
    check: (answer) =>
      /^[\w.-]+$/.test(answer.trim()) ? null : 'It is one word, such as mx.example.org, or off.',
  });
  const name = typed.trim();
  return name === 'off'
    ? { EMAIL_AUTHENTICATION: 'off', EMAIL_AUTHSERV_ID: '' }
    : { EMAIL_AUTHENTICATION: 'required', EMAIL_AUTHSERV_ID: name };
}

async function lineProblem(
  { settingsWith }: Context,
  name: 'EMAIL_IMAP' | 'EMAIL_SMTP',
  answer: string,
): Promise<string | null> {
  const settings = settingsWith({ [name]: answer });
  const kind = name === 'EMAIL_IMAP' ? 'IMAP' : 'SMTP';
  const server = serverOf(kind, settings);
  if (server === null) return null;
  const { tryLine } = await import('../channels/email/try-account.ts');
  const caFile = settings.EMAIL_CA_FILE || null;
  return await tryLine(kind, server, { caFile, timeoutMs: TIMEOUT_MS });
}

async function trialOf({ settingsWith }: Context, values: Values): Promise<Trial> {
  const account = accountOf(settingsWith(values));
  if (account === null) return { ok: false, message: 'Type the password.' };
  // The libraries take a moment to load.
  const { tryAccount } = await import('../channels/email/try-account.ts');
  return await tryAccount(account, TIMEOUT_MS);
}
