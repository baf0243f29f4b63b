import { GrammyError, HttpError } from 'grammy/web';
import { type ChannelStatus, UnknownDelivery } from '../channel.ts';
import { causeInWords } from '../kit/cause.ts';

/** Why Telegram has not taken a message, or does not give a file out. */
export class TelegramError extends Error {
  override readonly name = 'TelegramError';
  readonly code:
    | 'NOT_CONNECTED'
    | 'JID_INVALID'
    | 'REFUSED'
    | 'UNREACHABLE'
    | 'FILE_UNKNOWN'
    | 'FILE_TOO_LARGE'
    | 'FILE_GONE';

  constructor(code: TelegramError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The meaning of a failed request for the channel. `waitMs` is null where Telegram did not name a time. */
export type Failure = {
  readonly status: ChannelStatus;
  readonly isFinal: boolean;
  readonly waitMs: number | null;
};

/** Tells a failure that only the owner can end from one that passes. */
export function explainFailure(error: unknown): Failure {
  if (!(error instanceof GrammyError)) {
    return passing(`Telegram cannot be reached (${causeInWords(causeOf(error))}). Trying again.`);
  }
  switch (error.error_code) {
    // Telegram answers 404 to a token that has not even the shape of one.
    case 401:
    case 404:
      return {
        status: {
          state: 'refused',
          detail:
            'Telegram does not know the bot token. Copy the right one from @BotFather into ' +
            'TELEGRAM_BOT_TOKEN in .env and restart.',
        },
        isFinal: true,
        waitMs: null,
      };
    case 409:
      return {
        status: {
          state: 'failed',
          detail:
            'Another program is polling Telegram with this bot token. Stop it, or make a bot of ' +
            'its own for it. Trying again.',
        },
        isFinal: false,
        waitMs: null,
      };
    case 429:
      return {
        ...passing('Telegram asks for a pause. Trying again.'),
        waitMs: retryAfterMs(error),
      };
    default:
      return passing(`Telegram answers with error ${error.error_code}. Trying again.`);
  }
}

/** Explains a failed send to the host: not taken, or unknown. */
export function explainSendFailure(error: unknown): TelegramError | UnknownDelivery {
  if (error instanceof GrammyError && error.error_code < 500) {
    return new TelegramError('REFUSED', `Telegram refused the message: ${error.description}.`);
  }
  const cause = error instanceof GrammyError ? `error ${error.error_code}` : causeOf(error);
  return NEVER_SENT.has(cause)
    ? new TelegramError('UNREACHABLE', `Telegram cannot be reached (${causeInWords(cause)}).`)
    : new UnknownDelivery(`Telegram did not say whether it took the message (${cause}).`);
}

/** There was no connection yet that the message could have gone over. */
const NEVER_SENT = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

/** Returns the time that Telegram asks to wait before the next request. */
export function retryAfterMs(error: GrammyError): number {
  return (error.parameters.retry_after ?? 1) * 1_000;
}

/**
 * The cause of a failed request in a few words.
 *
 * Never the message of the underlying error: it quotes the address, and the address holds the token.
 */
export function causeOf(error: unknown): string {
  const outer = error instanceof HttpError ? error.error : error;
  // Node's fetch has the reason one step further in.
  const inner = outer instanceof TypeError && outer.cause !== undefined ? outer.cause : outer;
  // A gateway in between has answered with a page of its own.
  if (inner instanceof SyntaxError) return 'unexpected answer';
  if (inner instanceof Error && 'code' in inner && typeof inner.code === 'string')
    return inner.code;
  return inner instanceof Error ? inner.name : 'unknown error';
}

function passing(detail: string): Failure {
  return { status: { state: 'connecting', detail }, isFinal: false, waitMs: null };
}
