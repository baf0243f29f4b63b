/** The reason why a line to the gateway ended. */
export type GatewayEnd =
  /** Discord moves the session to another machine; it is resumed at once. */
  | { readonly kind: 'moved' }
  /** The line is down; the session may still be there. */
  | { readonly kind: 'lost'; readonly cause: string }
  /** The session is over: a new one begins. */
  | { readonly kind: 'invalid' }
  /** The token is not (any more) one of Discord's. */
  | { readonly kind: 'token' }
  /** The bot asked for an intent that is not switched on. */
  | { readonly kind: 'intents' }
  /** Discord will not have this bot as it is. */
  | { readonly kind: 'refused'; readonly cause: string }
  /** Left from this end. */
  | { readonly kind: 'left' };

const REFUSED: Readonly<Record<number, string>> = {
  4010: 'invalid shard',
  4011: 'the bot is in so many servers that Discord wants it split',
  4012: 'invalid API version',
  4013: 'invalid intents',
};

/** Not authenticated, an invalid sequence, too many requests, a session that timed out, an end in order. */
const NEW_SESSION = new Set([1_000, 1_001, 4_003, 4_007, 4_008, 4_009]);

/** Explains the code with which Discord closed a line. */
export function closingOf(code: number): GatewayEnd {
  if (code === 4_004) return { kind: 'token' };
  if (code === 4_014) return { kind: 'intents' };
  const cause = REFUSED[code];
  if (cause !== undefined) return { kind: 'refused', cause };
  return NEW_SESSION.has(code) ? { kind: 'invalid' } : { kind: 'lost', cause: `code ${code}` };
}
