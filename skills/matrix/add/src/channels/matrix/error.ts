/** Why a message was not sent, or a file is not given out. */
export class MatrixError extends Error {
  override readonly name = 'MatrixError';
  readonly code:
    | 'NOT_CONNECTED'
    | 'JID_INVALID'
    | 'REFUSED'
    | 'UNREACHABLE'
    | 'NOT_ENCRYPTED'
    | 'FILE_UNKNOWN'
    | 'FILE_TOO_LARGE'
    | 'FILE_DAMAGED'
    | 'FILE_GONE';

  constructor(code: MatrixError['code'], message: string) {
    super(message);
    this.code = code;
  }
}
