import type { WASocket } from '@whiskeysockets/baileys';
import type { ChannelClock, ChannelStatus } from '../../channel.ts';
import { type BackoffLimits, backoffMs } from '../../kit/backoff.ts';
import { type Outcome, outcomeOf, REMOVED } from './outcome.ts';

/** Parts of the loop. None of the callbacks may throw. */
export type ConnectionOptions = {
  readonly signal: AbortSignal;
  readonly open: () => WASocket;
  /** The socket to send with from now on, or null. */
  readonly use: (socket: WASocket | null) => void;
  readonly report: (status: ChannelStatus) => void;
  /** Looks for a newer web version. @returns whether there is one */
  readonly refreshVersion: () => Promise<boolean>;
  readonly markRemoved: () => void;
  /** Scales the pauses; 1 outside of tests. */
  readonly timeScale: number;
  readonly clock: Pick<ChannelClock, 'random' | 'pause'>;
};

const BACKOFF: BackoffLimits = { firstMs: 1_000, longestMs: 120_000 };
/** A connection that another device took over is not taken back at once. */
const SLOW_FAILURES = 6;
const CLOSE_MS = 2_000;
/** A server that accepts the connection and then stays silent counts as unreachable. */
const OPEN_MS = 60_000;

/**
 * Connects, and connects again, until the signal is aborted or only the owner can help. Never rejects.
 */
export async function stayConnected(options: ConnectionOptions): Promise<void> {
  const { signal, report, clock } = options;
  let failures = 0;
  while (!signal.aborted) {
    const { wasOpen, error } = await live(options);
    if (signal.aborted) return;
    if (wasOpen) failures = 0;
    const outcome = outcomeOf(error);
    if (outcome.kind === 'restart') continue;
    if (outcome.kind === 'removed') {
      options.markRemoved();
      report(REMOVED);
      return;
    }
    if (outcome.kind === 'refused') {
      report({ state: 'refused', detail: outcome.detail });
      return;
    }
    report(await retryStatus(outcome, options));
    const isSlow = outcome.kind === 'retry' && outcome.isSlow;
    const waitMs = backoffMs(isSlow ? SLOW_FAILURES : failures, clock.random(), BACKOFF);
    await clock.pause(waitMs * options.timeScale, signal);
    failures += 1;
  }
}

async function retryStatus(
  outcome: Extract<Outcome, { kind: 'retry' | 'stale' }>,
  { refreshVersion }: ConnectionOptions,
): Promise<ChannelStatus> {
  if (outcome.kind === 'retry') return { state: 'connecting', detail: outcome.detail };
  if (await refreshVersion()) {
    return { state: 'connecting', detail: 'WhatsApp has a new web version. Trying again with it.' };
  }
  return {
    state: 'failed',
    detail:
      'WhatsApp no longer takes this web version, and does not say which is new. Trying again; ' +
      'where that goes on, update the assistant.',
  };
}

type ConnectionEnd = { readonly wasOpen: boolean; readonly error: unknown };

/** Runs one connection, from its opening to its end. */
async function live({ signal, open, use, report }: ConnectionOptions): Promise<ConnectionEnd> {
  const socket = open();
  const { promise: ended, resolve } = Promise.withResolvers<ConnectionEnd>();
  let wasOpen = false;
  const giveUp = (reason: string): void => void socket.end(new Error(reason));
  const late = setTimeout(giveUp, OPEN_MS, 'WhatsApp did not answer');
  // An answer that is none of a WebSocket's leaves the socket half open, and Baileys waiting.
  socket.ws.on('unexpected-response', () => giveUp('another server answered'));
  socket.ev.on('connection.update', ({ connection, lastDisconnect }) => {
    if (connection === 'open') {
      wasOpen = true;
      clearTimeout(late);
      use(socket);
      report({ state: 'connected', detail: null });
    } else if (connection === 'close') {
      use(null);
      resolve({ wasOpen, error: lastDisconnect?.error });
    }
  });
  const stop = (): void => {
    use(null);
    // A line that is dead already does not say goodbye.
    const timer = setTimeout(() => resolve({ wasOpen, error: undefined }), CLOSE_MS);
    socket.end(undefined).then(
      () => clearTimeout(timer),
      () => {},
    );
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await ended;
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stop);
  }
}
