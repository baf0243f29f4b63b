import { TIMED_OUT, withTimeout } from '../lib/timeout.ts';
import type { ChannelsPort, LogPort, TimeoutsPort } from './contracts/ports.ts';
import type { Delivery } from './outbound/delivery.ts';
import type { LazySandbox } from './turns/agent/lazy-sandbox.ts';
import type { TurnQueue } from './turns/turn-queue.ts';

type ShutdownOptions = ChannelsPort & { readonly sandbox: LazySandbox } & LogPort &
  TimeoutsPort & {
    readonly turnQueue: TurnQueue;
    readonly delivery: Delivery;
    /** Time for running turns to end. */
    readonly graceMs: number;
  };

/**
 * Ends everything in `graceMs`, `flushMs` and `closeMs` together, whatever hangs. Never rejects.
 *
 * What does not end in time is on disk as it is: turns wait again, messages on their way out are
 * unsent or of unknown outcome, and containers are removed at the next start.
 */
export async function shutdown(options: ShutdownOptions): Promise<void> {
  const { channels, sandbox, log, timeouts, turnQueue, delivery, graceMs } = options;

  async function end(what: string, ending: () => Promise<void>): Promise<void> {
    const ended = await withTimeout(Promise.resolve().then(ending), timeouts.closeMs).catch(
      (error: unknown) => {
        log.warn('something did not end as it should', { what, error: String(error) });
      },
    );
    if (ended === TIMED_OUT) log.warn('something did not end in time', { what });
  }

  await turnQueue.drain(graceMs);
  turnQueue.putBack();
  // At once, so that no agent goes on with what is to be done again.
  await Promise.all([delivery.stop(timeouts.flushMs), end('the sandbox', () => sandbox.close())]);
  await Promise.all(channels.map((channel) => end(channel.name, () => channel.disconnect())));
  turnQueue.close();
}
