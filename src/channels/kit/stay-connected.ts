import type { ChannelClock, ChannelStatus } from '../channel.ts';
import { type BackoffLimits, backoffMs } from './backoff.ts';

/** A connection that lasted this long was a good one: its end is no sign of trouble. */
export const STEADY_MS = 10_000;

/** The reason why there is no connection. */
export type ConnectFailure = {
  readonly status: ChannelStatus;
  /** Trying again is no use until the owner has changed something. */
  readonly isFinal: boolean;
  /** The time that the far end asks to wait; null where it names none. */
  readonly waitMs: number | null;
};

/** The part of a channel that is needed to keep it connected. */
export type Connecting = {
  /** The far end's name as people write it: `Slack`. */
  readonly title: string;
  readonly clock: ChannelClock;
  /** Ends the connection that is open, and the trying. */
  readonly signal: AbortSignal;
  /** The pauses between attempts, where they are other than usual. */
  readonly pauses?: BackoffLimits;
  /**
   * Opens a connection, which ends itself when the signal is aborted. `closed` may reject, with the reason. `detail` is
   * a line for the owner on what does not work although it is connected.
   */
  readonly open: () => Promise<{
    readonly closed: Promise<unknown>;
    readonly detail?: string | null;
  }>;
  readonly explain: (error: unknown) => ConnectFailure;
  readonly report: (status: ChannelStatus) => void;
};

/**
 * Opens connections one after the other, with growing pauses after failures, until the signal is aborted or the far
 * end refuses for good. Never rejects.
 */
export async function stayConnected(connecting: Connecting): Promise<void> {
  const { title, clock, signal, pauses, open, explain, report } = connecting;
  let failures = 0;
  while (!signal.aborted) {
    let waitMs: number | null = null;
    try {
      const { closed, detail = null } = await open();
      const openedAt = clock.now();
      if (!signal.aborted) report({ state: 'connected', detail });
      await closed.finally(() => {
        if (clock.now() - openedAt > STEADY_MS) failures = 0;
      });
      if (signal.aborted) return;
      report({ state: 'connecting', detail: `${title} closed the connection. Trying again.` });
    } catch (error) {
      if (signal.aborted) return;
      const failure = explain(error);
      report(failure.status);
      if (failure.isFinal) return;
      waitMs = failure.waitMs;
    }
    await clock.pause(waitMs ?? backoffMs(failures, clock.random(), pauses), signal);
    failures += 1;
  }
}
