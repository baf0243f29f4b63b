import type { ChannelClock, ChannelStatus } from '../channel.ts';
import { backoffMs } from '../kit/backoff.ts';
import { explainFailure } from './failure.ts';

/** A line that held this long was a good one: its end is no sign of trouble. */
const STEADY_MS = 10_000;

/**
 * Opens sessions one after the other until the signal is aborted, which ends the one that is open as
 * well, or Slack refuses the app. Never rejects. Slack ends a session every few hours.
 */
export async function stayConnected(link: {
  readonly signal: AbortSignal;
  readonly clock: ChannelClock;
  readonly open: () => Promise<{ readonly closed: Promise<void> }>;
  readonly report: (status: ChannelStatus) => void;
}): Promise<void> {
  const { signal, clock, open, report } = link;
  let failures = 0;
  while (!signal.aborted) {
    let waitMs: number | null = null;
    try {
      const session = await open();
      const openedAt = clock.now();
      if (!signal.aborted) report({ state: 'connected', detail: null });
      await session.closed;
      if (signal.aborted) return;
      report({ state: 'connecting', detail: 'Slack closed the connection. Trying again.' });
      if (clock.now() - openedAt > STEADY_MS) failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      const failure = explainFailure(error);
      report(failure.status);
      if (failure.isFinal) return;
      waitMs = failure.waitMs;
    }
    await clock.pause(waitMs ?? backoffMs(failures, clock.random()), signal);
    failures += 1;
  }
}
