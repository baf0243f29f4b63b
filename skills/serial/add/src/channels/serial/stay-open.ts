import type { ChannelClock, ChannelStatus } from '../channel.ts';
import { backoffMs } from '../kit/backoff.ts';
import { statusOf } from './failure.ts';
import type { Line } from './open-line.ts';
import { nameOf, type SerialPort } from './port.ts';

/** A device that was plugged in again is found within a second. */
const PAUSES = { firstMs: 100, longestMs: 1_000 };

/** A line that held this long was a good one: its end is no sign of trouble. */
const STEADY_MS = 10_000;

/** Opens the line again and again until the signal is aborted, which closes it. Never rejects. */
export async function stayOpen(link: {
  readonly port: SerialPort;
  readonly signal: AbortSignal;
  readonly clock: ChannelClock;
  readonly open: () => Promise<Line>;
  /** Uses the line until it is down. */
  readonly use: (line: Line) => Promise<void>;
  readonly report: (status: ChannelStatus) => void;
}): Promise<void> {
  const { port, signal, clock, open, use, report } = link;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const line = await open();
      const openedAt = clock.now();
      const close = (): void => line.close();
      signal.addEventListener('abort', close, { once: true });
      if (signal.aborted) close();
      await use(line);
      signal.removeEventListener('abort', close);
      if (signal.aborted) return;
      report({ state: 'connecting', detail: `${nameOf(port)} is gone. Plug the device in again.` });
      if (clock.now() - openedAt > STEADY_MS) failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      report(statusOf(error, port));
    }
    await clock.pause(backoffMs(failures, clock.random(), PAUSES), signal);
    failures += 1;
  }
}
