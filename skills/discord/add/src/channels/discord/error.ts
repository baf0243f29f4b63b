/** Why Discord has not taken a message, or does not give a file out. */
export class DiscordError extends Error {
  override readonly name = 'DiscordError';
  readonly code:
    | 'NOT_CONNECTED'
    | 'JID_INVALID'
    | 'REFUSED'
    | 'UNREACHABLE'
    | 'FILE_UNKNOWN'
    | 'FILE_TOO_LARGE'
    | 'FILE_GONE';

  constructor(code: DiscordError['code'], message: string) {
    super(message);
    this.code = code;
  }
}
