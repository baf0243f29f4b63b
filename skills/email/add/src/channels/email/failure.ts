import { UnknownDelivery } from '../channel.ts';
import { causeInWords } from '../kit/cause.ts';
import type { ConnectFailure } from '../kit/stay-connected.ts';
import type { MailServer } from './settings.ts';

/** A failure of the channel. The message says what to do. */
export class EmailError extends Error {
  override readonly name = 'EmailError';
  readonly code: 'FILE_GONE' | 'FILE_TOO_LARGE' | 'MAILBOX' | 'NOBODY' | 'NOT_CONNECTED' | 'SILENT';

  constructor(code: EmailError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const SIGNER = 'nobody here knows who signed its certificate: name that one in EMAIL_CA_FILE';
const REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its certificate has expired, or the clock of this machine is wrong',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: is the clock of this machine right?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is its own: name it in EMAIL_CA_FILE',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name than the one that is set',
  SELF_SIGNED_CERT_IN_CHAIN: SIGNER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: SIGNER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: SIGNER,
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS there',
  ETLS: 'it does not speak TLS there',
  EPROTOCOL: 'what it said is no answer',
  ECONNECTION: 'the line was cut',
  NoConnection: 'the line was cut',
  EConnectionClosed: 'the line was cut',
  CONNECT_TIMEOUT: 'it did not answer in time',
  GREETING_TIMEOUT: 'it did not answer in time',
  GREETING_TIEMOUT: 'it did not answer in time',
  UPGRADE_TIMEOUT: 'it did not answer in time',
  ETIMEDOUT: 'it did not answer in time',
  ETIMEOUT: 'it did not answer in time',
  ETHROTTLE: 'it asks for a pause',
};

/** Says why there is no connection to the mailbox. Only a login that is refused is final, or a mailbox that is not there. */
export function explainImap(error: unknown, server: MailServer): ConnectFailure {
  if (error instanceof EmailError && error.code === 'MAILBOX') return refused(error.message);
  if (isLoginRefused(error)) return refused(wrongPassword('IMAP', server));
  const waitMs = throttleMs(error);
  const detail = `${nameOf('IMAP', server)} cannot be used (${reasonOf(error)}). Trying again.`;
  return { status: { state: 'connecting', detail }, isFinal: false, waitMs };
}

/** A mail that the server for outgoing mail did not take. */
export type PostFailure = {
  readonly error: unknown;
  /** All of the mail was given to the server, which did not say that it has it. */
  readonly mayBeDone: boolean;
};

/** Makes the error that the host gets: not taken, or unknown. */
export function explainSmtp({ error, mayBeDone }: PostFailure, server: MailServer): Error {
  const { responseCode, code } = fieldsOf(error);
  const name = nameOf('SMTP', server);
  if (code === 'EAUTH') return new Error(wrongPassword('SMTP', server));
  if (responseCode !== null && responseCode >= 500) {
    return new Error(`${name} refused the mail (${shortOf(error)}).`);
  }
  if (responseCode !== null && responseCode >= 400) {
    return new Error(`${name} does not take the mail now (${shortOf(error)}).`);
  }
  if (mayBeDone) {
    return new UnknownDelivery(
      `${name} did not say whether it took the mail (${reasonOf(error)}).`,
    );
  }
  return new Error(`${name} cannot be used (${reasonOf(error)}).`);
}

/** Tells whether the server knows user and password, and refuses them. */
export function isLoginRefused(error: unknown): boolean {
  return (
    error instanceof Error &&
    (('authenticationFailed' in error && error.authenticationFailed === true) ||
      ('code' in error && error.code === 'EAUTH'))
  );
}

function refused(detail: string): ConnectFailure {
  return { status: { state: 'refused', detail }, isFinal: true, waitMs: null };
}

function wrongPassword(kind: string, server: MailServer): string {
  return `${nameOf(kind, server)} refuses user and password. Correct EMAIL_PASSWORD in .env and restart; many providers want a password made for one app.`;
}

function nameOf(kind: string, { host, port }: MailServer): string {
  return `The ${kind} server (${host}:${port})`;
}

function reasonOf(error: unknown): string {
  if (error instanceof EmailError) return error.message.replace(/\.$/, '');
  const { code } = fieldsOf(error);
  const named = /\b(E[A-Z]{4,})\b/.exec(error instanceof Error ? error.message : '')?.[1];
  const cause = code ?? named;
  return REASONS[code ?? ''] ?? (cause === undefined ? shortOf(error) : causeInWords(cause));
}

function throttleMs(error: unknown): number | null {
  if (!(error instanceof Error) || !('throttleReset' in error)) return null;
  return typeof error.throttleReset === 'number' ? error.throttleReset : null;
}

function fieldsOf(error: unknown): {
  readonly responseCode: number | null;
  readonly code: string | null;
} {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const read = (from: unknown, key: string): unknown =>
    typeof from === 'object' && from !== null ? Reflect.get(from, key) : undefined;
  const responseCode = read(error, 'responseCode');
  const code = [read(inner, 'code'), read(error, 'code')].find(
    (one) => typeof one === 'string' && one !== 'ESOCKET',
  );
  return {
    responseCode: typeof responseCode === 'number' ? responseCode : null,
    code: typeof code === 'string' ? code : null,
  };
}

/** Words of the server, on one line, without what it could be made to repeat. */
function shortOf(error: unknown): string {
  const said = typeof error === 'object' && error !== null ? Reflect.get(error, 'response') : null;
  const words =
    typeof said === 'string' ? said : error instanceof Error ? error.message : 'no answer';
  return words.replace(/\s+/g, ' ').trim().slice(0, 160).replace(/[.!]$/, '');
}
