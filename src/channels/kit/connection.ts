import type { ChannelEvents, ChannelStatus, InboundMessage } from '../channel.ts';
import { type ConnectFailure, type Connecting, stayConnected } from './stay-connected.ts';

const STOPPED: ChannelStatus = { state: 'stopped', detail: null };

/** A channel's connection, from the first `connect` to the last `disconnect`. */
export type ConnectionOptions = Pick<Connecting, 'title' | 'clock' | 'explain'> & {
  /** Says why the channel cannot start, and what to do: nobody is on its allow-list. Null for nothing. */
  readonly problem: string | null;
  /** Opens one connection, which ends itself when the signal is aborted. */
  readonly open: (events: ChannelEvents, signal: AbortSignal) => ReturnType<Connecting['open']>;
};

const NOT_STORED: ConnectFailure = {
  status: { state: 'failed', detail: 'A message could not be stored. Trying again.' },
  isFinal: false,
  waitMs: null,
};

/** Keeps a channel connected, and its status: `connect`, `disconnect` and `status` are the channel's own. */
export class Connection {
  readonly #options: ConnectionOptions;
  #status = STOPPED;
  #events: ChannelEvents | null = null;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Resolves with the first connection, or with the first reason why there is none. */
  async connect(events: ChannelEvents): Promise<void> {
    if (this.#events !== null) return;
    const { problem, open, explain, ...others } = this.#options;
    this.#events = events;
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    if (problem !== null) return this.#report({ state: 'refused', detail: problem });
    this.#report({ state: 'connecting', detail: null });
    const { promise: outcome, resolve } = Promise.withResolvers<void>();
    const report = (status: ChannelStatus) => {
      this.#report(status);
      resolve();
    };
    const running = stayConnected({
      ...others,
      signal,
      report,
      open: () => open({ ...events, onMessage: (message) => stored(events, message) }, signal),
      explain: (error) => (error instanceof NotStored ? NOT_STORED : explain(error)),
    });
    this.#running = running.then(resolve);
    await outcome;
  }

  /** Resolves when what was in hand is stored. */
  async disconnect(): Promise<void> {
    if (this.#events === null) return;
    this.#stop.abort();
    await this.#running;
    this.#report(STOPPED);
    this.#events = null;
  }

  status(): ChannelStatus {
    return this.#status;
  }

  #report(status: ChannelStatus): void {
    const { state, detail } = this.#status;
    if (state === status.state && detail === status.detail) return;
    this.#status = status;
    this.#events?.onStatus(status);
  }
}

/** The host could not store a message: the connection is opened again, and the far end sends it again. */
class NotStored extends Error {
  override readonly name = 'NotStored';
}

async function stored(events: ChannelEvents, message: InboundMessage): Promise<void> {
  try {
    await events.onMessage(message);
  } catch (cause) {
    throw new NotStored('The message was not stored.', { cause });
  }
}
