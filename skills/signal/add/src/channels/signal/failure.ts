import { z } from 'zod';
import { explainSend, HttpFailure } from '../kit/http.ts';
import type { ConnectFailure } from '../kit/stay-connected.ts';
import { RPC_CODES, RpcError } from './rpc.ts';

const TITLE = 'signal-cli';
/** An account that signal-cli does not hold is looked for again after this time: the owner may link it meanwhile. */
const UNKNOWN_ACCOUNT_WAIT_MS = 60_000;
/** The pause where Signal asks for one without a time. */
const UNNAMED_PAUSE_MS = 5_000;

/** A failure of the channel's own, in words. */
export class SignalError extends Error {
  override readonly name = 'SignalError';
  readonly code: 'FILE_GONE' | 'FILE_TOO_LARGE' | 'FILE_UNKNOWN' | 'JID_INVALID' | 'NOT_CONNECTED';

  constructor(code: SignalError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Outcomes of a message for its receivers, which signal-cli adds to an answer and to an error. */
const Outcomes = z.looseObject({
  timestamp: z.number().nullish(),
  results: z
    .array(
      z.looseObject({
        type: z.string(),
        token: z.string().nullish(),
        retryAfterSeconds: z.number().nullish(),
      }),
    )
    .nullish(),
});
const ErrorData = z.looseObject({ response: Outcomes.nullish() });

type Outcome = NonNullable<z.output<typeof Outcomes>['results']>[number];

/** Returns the failures among the receivers of a message that was sent, as words that name nobody. */
export function failuresIn(answer: unknown): readonly string[] {
  const { results } = Outcomes.safeParse(answer).data ?? {};
  return (results ?? []).filter(({ type }) => type !== 'SUCCESS').map(({ type }) => type);
}

/** Says why no stream of events can be opened. */
export function explainConnect(account: string, error: unknown): ConnectFailure {
  const { status, message } = error instanceof HttpFailure ? error : { status: null, message: '' };
  if (status === 400) {
    return {
      status: { state: 'refused', detail: unknownAccount(account) },
      isFinal: false,
      waitMs: UNKNOWN_ACCOUNT_WAIT_MS,
    };
  }
  const detail =
    status === 404 || status === 421
      ? `What answers at SIGNAL_CLI_URL is not signal-cli, or not under that name (error ${status}). Correct it in .env and restart.`
      : status !== null
        ? `signal-cli answers with ${message}. Trying again.`
        : message === ''
          ? 'The connection to signal-cli ended. Trying again.'
          : `signal-cli cannot be reached (${message}). Is it running, with \`signal-cli daemon --http --receive-mode=on-connection\`? Trying again.`;
  return { status: { state: 'connecting', detail }, isFinal: false, waitMs: null };
}

/** The words for an account that is not there, or not any more. */
export function unknownAccount(account: string): string {
  return (
    `signal-cli has no account ${account}, or Signal does not know it any more. Link it again with ` +
    '`npx claw setup signal --link`, or correct SIGNAL_ACCOUNT in .env, and restart.'
  );
}

/** Returns for how long Signal asks to wait; null for another failure, and where it wants a captcha. */
export function pauseMsIn(error: unknown): number | null {
  if (error instanceof HttpFailure) return error.waitMs;
  if (!(error instanceof RpcError) || !isRateLimit(error)) return null;
  const outcomes = outcomesOf(error);
  if (outcomes.some(({ token }) => token != null)) return null;
  const seconds = Math.max(...outcomes.map(({ retryAfterSeconds }) => retryAfterSeconds ?? 0), 0);
  return seconds > 0 ? seconds * 1_000 : UNNAMED_PAUSE_MS;
}

/** Makes the error that the host gets for a message that failed. */
export function explainSendFailure(error: unknown): Error {
  if (!(error instanceof RpcError)) return explainSend(TITLE, error);
  return new Error(refusalIn(error));
}

function refusalIn(error: RpcError): string {
  const outcomes = outcomesOf(error);
  const token = outcomes.find((outcome) => outcome.token != null)?.token;
  if (token != null) return captchaWanted(token);
  if (isRateLimit(error)) return 'Signal asks for a pause: too many messages were sent.';
  if (error.code === RPC_CODES.untrustedKey) {
    return (
      'The safety number of the person has changed, and signal-cli does not trust the new one yet. ' +
      'Compare it, then stop signal-cli, run `signal-cli -a <this account> trust -v <safety number> <number>`, start it and send again.'
    );
  }
  if (/account does not exist|not registered\.?$/i.test(error.message)) {
    return error.message.startsWith('The user')
      ? 'The person is not on Signal any more.'
      : 'signal-cli does not have the account any more. Link it again with `npx claw setup signal --link`.';
  }
  const types = new Set(outcomes.map(({ type }) => type));
  if (types.has('UNREGISTERED_FAILURE')) return 'The person is not on Signal any more.';
  if (types.has('NETWORK_FAILURE')) return 'signal-cli cannot reach Signal. It is tried again.';
  if (types.has('INVALID_PRE_KEY_FAILURE')) {
    return 'Signal has no keys of one of the person’s devices. They have to open the app there.';
  }
  return `signal-cli refused the message: ${oneLine(error.message)}.`;
}

/** The words for a captcha, and the command that takes it. */
function captchaWanted(token: string): string {
  return (
    'Signal wants to see a person before more is sent. Solve the captcha at ' +
    'https://signalcaptchas.org/challenge/generate.html, copy the link “Open Signal”, and run ' +
    `\`npx claw setup signal --challenge ${token} --captcha '<link>'\`.`
  );
}

function isRateLimit({ code }: RpcError): boolean {
  return code === RPC_CODES.rateLimit;
}

function outcomesOf({ data }: RpcError): readonly Outcome[] {
  return ErrorData.safeParse(data).data?.response?.results ?? [];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, 200);
}
