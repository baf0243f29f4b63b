import { REST } from '@discordjs/rest';
import type { ChannelClock } from '../channel.ts';
import { pauseMsIn } from './failure.ts';

/** A request that takes longer is given up. */
const REQUEST_MS = 15_000;

/**
 * Opens Discord's REST API for a bot. The library keeps to the limits that Discord tells in its headers. It does not
 * wait by itself: it would repeat at once what Discord refused without saying for how long, so each limit is a
 * `RateLimitError`, and the one who sends waits.
 */
export function openApi(
  { token, apiUrl }: { readonly token: string; readonly apiUrl: string },
  timeoutMs: number = REQUEST_MS,
): REST {
  return new REST({
    api: apiUrl,
    version: '10',
    timeout: timeoutMs,
    retries: 1,
    rejectOnRateLimit: () => true,
    // Of its own accord it takes undici, whose versions in one process share parts that do not fit.
    makeRequest: (url, { dispatcher: _, ...init }) => fetch(url, init as RequestInit),
    hashSweepInterval: 0,
    handlerSweepInterval: 0,
  }).setToken(token);
}

const ATTEMPTS = 5;

/** Makes a request, and again after the pause that Discord asks for. Rejects with its last failure. */
export async function patiently<T>(
  request: () => Promise<T>,
  { clock, signal }: { readonly clock: ChannelClock; readonly signal: AbortSignal },
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      const waitMs = pauseMsIn(error);
      if (waitMs === null || attempt === ATTEMPTS) throw error;
      await clock.pause(waitMs, signal);
      signal.throwIfAborted();
    }
  }
}
