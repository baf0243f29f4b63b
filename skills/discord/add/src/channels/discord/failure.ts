import { DiscordAPIError, HTTPError, RateLimitError } from '@discordjs/rest';
import type { ChannelStatus } from '../channel.ts';
import { causeInWords } from '../kit/cause.ts';
import { DiscordError } from './error.ts';

/** The outcome of a failed request to Discord, in one shape for all errors of the library. */
export type ApiFailure =
  | { readonly kind: 'token' }
  /** `code` is Discord's own number: https://discord.com/developers/docs/topics/opcodes-and-status-codes. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: number;
      readonly words: string;
    }
  /** `waitMs` is null where Discord did not name a time. */
  | { readonly kind: 'rate-limited'; readonly waitMs: number | null }
  | { readonly kind: 'unreachable'; readonly cause: string };

/** Tells the errors of Discord's library apart by what they carry. */
export function readFailure(error: unknown): ApiFailure {
  if (error instanceof RateLimitError) {
    const waitMs = Math.max(error.retryAfter, error.sublimitTimeout);
    return { kind: 'rate-limited', waitMs: waitMs > 0 ? Math.ceil(waitMs) : null };
  }
  if (error instanceof DiscordAPIError) {
    if (error.status === 401) return { kind: 'token' };
    const { status, rawError } = error;
    const words = 'message' in rawError ? rawError.message : String(error.code);
    return { kind: 'refused', status, code: Number(error.code) || 0, words };
  }
  if (error instanceof HTTPError) return { kind: 'unreachable', cause: `HTTP ${error.status}` };
  return { kind: 'unreachable', cause: causeOf(error) };
}

/** The pause after a 429 that does not say how long to wait. */
const UNNAMED_PAUSE_MS = 1_000;

/** Returns for how long Discord asks to wait; null for another failure. */
export function pauseMsIn(error: unknown): number | null {
  const failure = readFailure(error);
  return failure.kind === 'rate-limited' ? (failure.waitMs ?? UNNAMED_PAUSE_MS) : null;
}

/** The refusal of a token, with what to do. */
export const TOKEN_REFUSED =
  'Discord does not take the bot token (any more). Reset it on the page Bot of your application, copy the ' +
  'new one into DISCORD_BOT_TOKEN in .env and restart.';

/** Explains a failure to connect. `waitMs` is null where Discord did not name a time. */
export function explainFailure(error: unknown): {
  readonly status: ChannelStatus;
  readonly isFinal: boolean;
  readonly waitMs: number | null;
} {
  const failure = readFailure(error);
  const passing = (detail: string, waitMs: number | null = null) =>
    ({ status: { state: 'connecting', detail }, isFinal: false, waitMs }) as const;
  switch (failure.kind) {
    case 'token':
      return {
        status: { state: 'refused', detail: TOKEN_REFUSED },
        isFinal: true,
        waitMs: null,
      };
    case 'rate-limited':
      return passing('Discord asks for a pause. Trying again.', failure.waitMs);
    case 'unreachable':
      return passing(`Discord cannot be reached (${causeInWords(failure.cause)}). Trying again.`);
    case 'refused':
      return passing(`Discord answers: ${failure.words} (${failure.status}). Trying again.`);
  }
}

/** Explains a failed send to the host. A repeat is harmless, because messages have a nonce of their own. */
export function explainSendFailure(error: unknown): DiscordError {
  if (error instanceof DiscordError) return error;
  const failure = readFailure(error);
  switch (failure.kind) {
    case 'token':
      return new DiscordError('REFUSED', TOKEN_REFUSED);
    case 'refused':
      return new DiscordError('REFUSED', refusalIn(failure));
    case 'rate-limited':
      return new DiscordError('REFUSED', 'Discord asks for a pause.');
    case 'unreachable':
      return new DiscordError(
        'UNREACHABLE',
        `Discord cannot be reached (${causeInWords(failure.cause)}).`,
      );
  }
}

/** Refusals that the owner can do something about. */
const ADVICE: Readonly<Record<number, string>> = {
  10003: 'the channel is gone, or the bot was removed from its server',
  40005: 'the file is larger than this server takes',
  50001: 'the bot may not see the channel: give it View Channel there',
  50007: 'the person takes no direct messages from the bot',
  50013:
    'the bot lacks a permission there: Send Messages, Attach Files, Add Reactions or Read Message History',
};

function refusalIn({ code, words }: { readonly code: number; readonly words: string }): string {
  const advice = ADVICE[code];
  return `Discord refused the message: ${advice === undefined ? `${words}.` : `${advice}.`}`;
}

/** Returns Discord's number of a refusal; null for another failure. */
export function refusalCode(error: unknown): number | null {
  const failure = error instanceof DiscordError ? null : readFailure(error);
  return failure?.kind === 'refused' ? failure.code : null;
}

/** Returns the cause of a failed request in a few words, without addresses. */
export function causeOf(error: unknown): string {
  const inner = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
  if (inner instanceof Error && 'code' in inner && typeof inner.code === 'string')
    return inner.code;
  return inner instanceof Error ? inner.name : 'unknown error';
}
