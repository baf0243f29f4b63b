import type { ConnectFailure } from '../kit/stay-connected.ts';
import { MatrixFailure } from './api.ts';
import { MatrixError } from './error.ts';

/** The refusal of a token, with what to do. */
export const TOKEN_REFUSED =
  'The homeserver does not take the token (any more): the account has logged out, or its password was changed. ' +
  '`npx claw setup matrix` makes a new one for MATRIX_TOKEN in .env.';

/** Tells whether a server does not know the token. */
export function isTokenRefused(error: unknown): boolean {
  if (!(error instanceof MatrixFailure)) return false;
  return ['M_UNKNOWN_TOKEN', 'M_MISSING_TOKEN'].includes(error.errcode) || error.status === 401;
}

/** Says why there is no connection: a server that does not know the token waits for the owner. */
export function explainConnect(error: unknown): ConnectFailure {
  if (isTokenRefused(error)) {
    return { status: { state: 'refused', detail: TOKEN_REFUSED }, isFinal: true, waitMs: null };
  }
  if (isFinalRefusal(error)) {
    const detail =
      'The account of the assistant is switched off on its homeserver. Ask its operator, or set another one up ' +
      'with `npx claw setup matrix`.';
    return { status: { state: 'refused', detail }, isFinal: true, waitMs: null };
  }
  const waitMs = error instanceof MatrixFailure ? error.waitMs : null;
  const cause = error instanceof Error ? error.message : 'unknown error';
  const detail =
    waitMs === null
      ? `The homeserver cannot be reached (${cause}). Trying again.`
      : 'The homeserver asks for a pause. Trying again.';
  return { status: { state: 'connecting', detail }, isFinal: false, waitMs };
}

/** Explains a failed send to the host. A repeat is harmless, because messages have transaction ids. */
export function explainSend(error: unknown): MatrixError {
  if (error instanceof MatrixError) return error;
  if (!(error instanceof MatrixFailure)) {
    const cause = error instanceof Error ? error.message : String(error);
    return new MatrixError('REFUSED', `The message was not sent (${cause}).`);
  }
  if (isTokenRefused(error)) return new MatrixError('REFUSED', TOKEN_REFUSED);
  if (error.waitMs !== null) {
    return new MatrixError('REFUSED', 'The homeserver asks for a pause.');
  }
  if (error.status === null || error.status >= 500) {
    const words = `The homeserver cannot be reached (${error.message}).`;
    return new MatrixError('UNREACHABLE', words);
  }
  return new MatrixError('REFUSED', `The homeserver refused the message: ${adviceOn(error)}.`);
}

/** Tells whether the server will never take this: it is gone, or not allowed. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof MatrixFailure) || isTokenRefused(error)) return false;
  const { status, waitMs } = error;
  return waitMs === null && status !== null && status >= 400 && status < 500;
}

function isFinalRefusal(error: unknown): boolean {
  const final = ['M_USER_DEACTIVATED', 'M_USER_SUSPENDED', 'M_USER_LOCKED'];
  return error instanceof MatrixFailure && final.includes(error.errcode);
}

function adviceOn({ errcode, message }: MatrixFailure): string {
  switch (errcode) {
    case 'M_FORBIDDEN':
      return 'the assistant is not in the room any more, or may not write there. Invite it again';
    case 'M_NOT_FOUND':
      return 'the room is gone';
    case 'M_TOO_LARGE':
      return 'it is larger than the homeserver takes';
    default:
      return message.replace(/\.$/, '');
  }
}
