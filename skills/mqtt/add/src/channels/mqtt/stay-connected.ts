import type { ChannelClock, ChannelStatus } from '../channel.ts';
import { backoffMs } from '../kit/backoff.ts';
import { explainFailure } from './failure.ts';
import type { Session } from './session.ts';

/** A session that held this long was a good one: its end is no sign of trouble. */
const STEADY_MS = 10_000;
/** Of what the broker refuses the next attempt is this far, so that a mended password is found. */
const REFUSED_MS = 60_000;
/** Sessions that ended so soon one after the other are ended by somebody. */
const MOST_SHORT = 3;

/** Opens sessions one after the other until the signal is aborted. Never rejects. */
export async function stayConnected(link: {
  readonly url: string;
  readonly clientId: string;
  readonly signal: AbortSignal;
  readonly clock: ChannelClock;
  readonly open: () => Promise<Session>;
  /** Uses the session until it is down. */
  readonly use: (session: Session) => Promise<void>;
  readonly report: (status: ChannelStatus) => void;
}): Promise<void> {
  const { url, clientId, signal, clock, open, use, report } = link;
  let failures = 0;
  let short = 0;
  while (!signal.aborted) {
    let isRefusal = false;
    try {
      const session = await open();
      const openedAt = clock.now();
      await use(session);
      if (signal.aborted) return;
      const isSteady = clock.now() - openedAt > STEADY_MS;
      if (isSteady) failures = 0;
      short = isSteady ? 0 : short + 1;
      report({ state: 'connecting', detail: lostOf(url, short > MOST_SHORT ? clientId : null) });
    } catch (error) {
      if (signal.aborted) return;
      const failure = explainFailure(error, url);
      report(failure.status);
      ({ isRefusal } = failure);
    }
    const pauseMs = backoffMs(failures, clock.random());
    await clock.pause(isRefusal ? Math.max(REFUSED_MS, pauseMs) : pauseMs, signal);
    failures += 1;
  }
}

function lostOf(url: string, clientId: string | null): string {
  const lost = `The connection to the broker (${new URL(url).host}) was cut. Trying again.`;
  return clientId === null
    ? lost
    : `${lost} Is another program connected there as ${clientId}? Give one of them another MQTT_CLIENT_ID.`;
}
