import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { allowListProblem } from '../channels/signal/access.ts';
import { findSignalCli } from '../channels/signal/identity.ts';
import { addressIn } from '../channels/signal/jid.ts';
import { type CallRpc, RpcError } from '../channels/signal/rpc.ts';
import { accountOf, SignalEnvironment } from '../channels/signal/settings.ts';
import { problemOfAddress } from '../lib/setting-values.ts';
import { askAllowList, askTried, namesOf, ownerSetting } from './channel-questions.ts';
import {
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

const WRONG_LIST =
  'Write numbers such as +4915112345678, or UUIDs, with commas between several; * is everybody.';

const TIMEOUT_MS = 20_000;
const USAGE = '[--link] [--qr-file PATH] [--challenge TOKEN --captcha LINK]';
/** A code is good for about a minute; then another one is shown. */
const MOST_CODES = 5;

type Context = SetupContext & OwnSettings<typeof SignalEnvironment.shape>;

/** Connects the assistant to an account that signal-cli has, or links one by a QR code. */
export const setup = defineSetup({
  name: 'signal',
  help: 'connect the assistant to Signal through signal-cli; --link links an account by a QR code',
  usage: USAGE,
  again: ['--link'],
  settings: SignalEnvironment,
  currentState({ settings }) {
    const account = accountOf(settings);
    return account === null
      ? null
      : `${account.account}, and ${namesOf(account.allowFrom)} may write`;
  },
  run: setUpSignal,
});

type Given = {
  readonly isLinking: boolean;
  readonly qrFile: string | null;
  readonly challenge: string | null;
  readonly captcha: string | null;
};

async function setUpSignal(context: Context): Promise<SetupOutcome> {
  const given = readArguments(context.args);
  if (given.challenge !== null) return await liftLimit(context, given);
  const { url, call, accounts } = await askForSignalCli(context);
  const isLinking = given.isLinking || accounts.length === 0;
  const account = isLinking
    ? await link(context, given, call)
    : await askForAccount(context, accounts);
  const { allowFrom, owner } = await askForPeople(context, account, isLinking);
  context.write({
    SIGNAL_CLI_URL: url,
    SIGNAL_ACCOUNT: account,
    SIGNAL_ALLOW_FROM: allowFrom.join(','),
    ...ownerSetting('SIGNAL_OWNER', owner, context.settings.SIGNAL_OWNER),
  });
  const may = namesOf(owner === null ? allowFrom : [...new Set([owner, ...allowFrom])]);
  const own = owner === account ? ' Write to it under Note to Self.' : '';
  return {
    summary: `signal-cli has ${account}; ${may} may write to it.${own}`,
    data: { account, allowFrom, owner },
  };
}

async function askForSignalCli({ ask, settings: { SIGNAL_CLI_URL: proposed } }: Context) {
  const message =
    'The address of signal-cli, as `signal-cli daemon --http --receive-mode=on-connection` gives it';
  const { found } = await askTried(ask, { message, proposed }, async (typed) => {
    const wrong = problemOfAddress(typed, proposed);
    if (wrong !== null) return { ok: false, message: wrong };
    const url = typed.replace(/\/+$/, '');
    const answer = await findSignalCli(url, TIMEOUT_MS);
    return answer.ok ? { ...answer, url } : answer;
  });
  return found;
}

async function askForAccount(context: Context, accounts: readonly string[]): Promise<string> {
  const known = context.settings.SIGNAL_ACCOUNT;
  const proposed = known !== undefined && accounts.includes(known) ? known : accounts[0];
  context.say(
    `signal-cli has ${accounts.join(', ')}. To link another one: npx claw setup signal --link`,
  );
  return await context.ask({
    message: 'The number that the assistant has',
    ...(proposed === undefined ? {} : { proposed }),
    check: (typed) =>
      accounts.includes(typed)
        ? null
        : `signal-cli does not have that one. It has ${accounts.join(', ')}.`,
  });
}

const Linking = z.looseObject({ deviceLinkUri: z.string() });
const Linked = z.looseObject({ number: z.string() });

/** Shows QR codes until the owner's phone has scanned one. @returns the number of the account */
async function link(context: Context, { qrFile }: Given, call: CallRpc): Promise<string> {
  const { openDisplay } = await import('./link-code/display.ts');
  const { isInteractive, rows, say, dataDir, signal } = context;
  const how = 'On the phone: Signal, Settings, Linked devices, +. Then scan this code.';
  const folder = join(dataDir, 'signal');
  const display = await openDisplay({
    title: 'Signal',
    how,
    isInteractive,
    rows,
    say,
    qrFile,
    folder,
    isRelayed: false,
  });
  let ending = 'Nothing was linked. You can close this page.';
  try {
    for (let codes = 1; ; codes += 1) {
      const { deviceLinkUri } = Linking.parse(await call('startLink', {}, signal));
      display.show(deviceLinkUri);
      try {
        const deviceName = 'Patchclaw';
        const answer = await call('finishLink', { deviceLinkUri, deviceName }, signal);
        const { number } = Linked.parse(answer);
        ending = `Linked with ${number}. You can close this page.`;
        say(`Linked with ${number}.`);
        return number;
      } catch (error) {
        const isLate = error instanceof RpcError && /timed out/.test(error.message);
        if (!isLate || codes === MOST_CODES) throw error;
      }
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupRefused(`No account was linked: ${reason}`, { cause: error });
  } finally {
    await display.close(ending);
  }
}

async function askForPeople(context: Context, account: string, isLinked: boolean) {
  const { SIGNAL_OWNER: known, SIGNAL_ALLOW_FROM: listed } = context.settings;
  const proposed = known ?? (isLinked ? account : undefined);
  const own = await context.ask({
    message: 'Your own number: your chat is one of your own chats with the assistant (- for none)',
    ...(proposed === undefined ? {} : { proposed }),
    check: (typed) =>
      typed === '-' || addressIn(typed) !== null
        ? null
        : 'Type a number such as +4915112345678, or -.',
  });
  const owner = own === '-' ? null : own;
  const listing = await askAllowList(context.ask, {
    message: 'The numbers or UUIDs of others who may write, with commas between them (- for none)',
    proposed: listed.length > 0 ? listed.join(',') : '-',
    check: (typed) =>
      (owner !== null && typed.join() === '-') || allowListProblem(others(typed)) === null
        ? null
        : WRONG_LIST,
  });
  return { owner, allowFrom: others(listing) };
}

/** Hands the answer to a captcha to Signal, which then lets more messages through. */
async function liftLimit(context: Context, { challenge, captcha }: Given): Promise<SetupOutcome> {
  const { SIGNAL_CLI_URL: url, SIGNAL_ACCOUNT: account } = context.settings;
  if (account === undefined)
    throw new SetupRefused('No account is set up: run `npx claw setup signal`.');
  const found = await findSignalCli(url, TIMEOUT_MS);
  if (!found.ok) throw new SetupRefused(found.message);
  try {
    await found.call('submitRateLimitChallenge', { account, challenge, captcha }, context.signal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupRefused(`Signal did not take it: ${reason}`, { cause: error });
  }
  return {
    summary: 'Signal took the captcha. What was not sent is sent again.',
    data: { account },
    needsRestart: false,
  };
}

function readArguments(args: readonly string[]): Given {
  const options = {
    link: { type: 'boolean', default: false },
    'qr-file': { type: 'string' },
    challenge: { type: 'string' },
    captcha: { type: 'string' },
  } as const;
  try {
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false });
    const { challenge = null, captcha = null, link: isLinking } = values;
    if ((challenge === null) !== (captcha === null)) {
      throw new Error('--challenge and --captcha belong together');
    }
    return { isLinking, qrFile: values['qr-file'] ?? null, challenge, captcha };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const words = `${reason}. Use: npx claw setup signal ${USAGE}`;
    throw new SetupRefused(words, { cause: error, isWrongUse: true });
  }
}

function others(typed: readonly string[]): readonly string[] {
  return typed.filter((entry) => entry !== '-');
}
