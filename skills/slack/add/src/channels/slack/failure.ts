import { z } from 'zod';
import { type ChannelStatus, UnknownDelivery } from '../channel.ts';
import { causeInWords } from '../kit/cause.ts';

/** Why Slack has not taken a message, or does not give a file out. */
export class SlackError extends Error {
  override readonly name = 'SlackError';
  readonly code:
    | 'NOT_CONNECTED'
    | 'JID_INVALID'
    | 'REFUSED'
    | 'UNREACHABLE'
    | 'FILE_UNKNOWN'
    | 'FILE_TOO_LARGE'
    | 'FILE_GONE';

  constructor(code: SlackError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The outcome of a failed request to Slack, in one shape for all of the client's errors. */
export type ApiFailure =
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'rate-limited'; readonly waitMs: number }
  | { readonly kind: 'unreachable'; readonly cause: string; readonly wasSent: boolean };

/** Answers with which Slack says that trying again is no use until the owner has changed something. */
const FINAL = new Set([
  'access_denied',
  'account_inactive',
  'invalid_app',
  'invalid_auth',
  'invalid_token',
  'missing_scope',
  'no_permission',
  'not_allowed_token_type',
  'not_authed',
  'org_login_required',
  'team_disabled',
  'token_expired',
  'token_revoked',
  'two_factor_setup_required',
  'user_removed_from_team',
]);

/** Answers after which nobody knows what became of the request. */
const VAGUE = new Set(['fatal_error', 'internal_error', 'request_timeout', 'service_unavailable']);

/** There was no connection yet that a request could have gone over. */
const NEVER_SENT = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
]);

const Platform = z.looseObject({ data: z.looseObject({ error: z.string() }) });
const RateLimited = z.looseObject({ retryAfter: z.number() });
const Http = z.looseObject({ statusCode: z.number() });
const FailedRequest = z.looseObject({
  original: z.looseObject({
    name: z.string(),
    cause: z.looseObject({ code: z.string() }).optional(),
  }),
});

/** Tells the errors of Slack's client apart by what they carry. */
export function readFailure(error: unknown): ApiFailure {
  const platform = Platform.safeParse(error).data?.data.error;
  // A gateway in between may have answered with a page of its own.
  if (platform !== undefined && !/^\w+$/.test(platform)) return unreachable('unexpected answer');
  if (platform !== undefined) {
    return VAGUE.has(platform) ? unreachable(platform) : { kind: 'refused', error: platform };
  }
  const seconds = RateLimited.safeParse(error).data?.retryAfter;
  if (seconds !== undefined) return { kind: 'rate-limited', waitMs: seconds * 1_000 };
  const statusCode = Http.safeParse(error).data?.statusCode;
  if (statusCode !== undefined) return unreachable(`HTTP ${statusCode}`);
  const original = FailedRequest.safeParse(error).data?.original;
  return unreachable(original?.cause?.code ?? original?.name ?? 'connection cut');
}

/** Explains a failure to connect. `waitMs` is null where Slack did not name a time. */
export function explainFailure(error: unknown): {
  readonly status: ChannelStatus;
  readonly isFinal: boolean;
  readonly waitMs: number | null;
} {
  const failure = readFailure(error);
  const passing = (detail: string, waitMs: number | null = null) =>
    ({ status: { state: 'connecting', detail }, isFinal: false, waitMs }) as const;
  switch (failure.kind) {
    case 'rate-limited':
      return passing('Slack asks for a pause. Trying again.', failure.waitMs);
    case 'unreachable':
      return passing(`Slack cannot be reached (${causeInWords(failure.cause)}). Trying again.`);
    case 'refused': {
      const detail =
        `Slack refuses the app (${failure.error}). Check SLACK_BOT_TOKEN (xoxb-…, all scopes ` +
        'granted) and SLACK_APP_TOKEN (xapp-…, connections:write, socket mode on) in .env and restart.';
      return FINAL.has(failure.error)
        ? { status: { state: 'refused', detail }, isFinal: true, waitMs: null }
        : { status: { state: 'failed', detail }, isFinal: false, waitMs: null };
    }
  }
}

/** Explains a failed send to the host: not taken, or unknown. */
export function explainSendFailure(error: unknown): SlackError | UnknownDelivery {
  const failure = readFailure(error);
  switch (failure.kind) {
    case 'refused':
      return new SlackError('REFUSED', `Slack refused the message: ${failure.error}.`);
    case 'rate-limited':
      return new SlackError('REFUSED', 'Slack asks for a pause.');
    case 'unreachable':
      return failure.wasSent
        ? new UnknownDelivery(`Slack did not say whether it took the message (${failure.cause}).`)
        : new SlackError(
            'UNREACHABLE',
            `Slack cannot be reached (${causeInWords(failure.cause)}).`,
          );
  }
}

function unreachable(cause: string): ApiFailure {
  return { kind: 'unreachable', cause, wasSent: !NEVER_SENT.has(cause) };
}
