import { UnknownDelivery } from '../../../channels/channel.ts';
import { TIMED_OUT, withTimeout } from '../../../lib/timeout.ts';

/** Waits for a channel at most `limitMs`. @throws UnknownDelivery after that, and what the channel throws */
export async function within(work: Promise<void>, limitMs: number): Promise<void> {
  if ((await withTimeout(work, limitMs)) !== TIMED_OUT) return;
  throw new UnknownDelivery(`no answer within ${limitMs} ms`);
}
