import type { LiveEvent } from '../../host/contracts/live-event.ts';
import type { ServiceContext } from '../../host/contracts/service.ts';
import { eventsWithoutCodes } from './entry-codes.ts';

/** A browser that falls so far behind is cut off: it comes back, and reads everything anew. */
const MAX_WAITING = 2_000;
/** Silence of that length tells a browser that the connection is gone. */
const BEAT_MS = 15_000;

/** Sends what happens in the assistant as server-sent events, until the signal. */
export async function* streamOf(
  { watch, setTimer }: Pick<ServiceContext, 'watch' | 'setTimer'>,
  { signal, isForOwner }: { readonly signal: AbortSignal; readonly isForOwner: boolean },
): AsyncGenerator<string> {
  const asJson = isForOwner ? (event: LiveEvent) => JSON.stringify(event) : eventsWithoutCodes();
  let waiting: LiveEvent[] = [];
  let isBehind = false;
  let wake = (): void => {};
  let end = (): void => {};
  end = watch((event) => {
    if (isBehind || (event.kind === 'log' && !isForOwner)) return;
    waiting.push(event);
    isBehind = waiting.length > MAX_WAITING;
    if (isBehind) {
      // A browser that does not read what it was sent never asks for more, so nothing may be kept for it.
      waiting = [];
      end();
    }
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);
  try {
    yield 'retry: 1000\ndata: {"kind":"hello"}\n\n';
    while (!signal.aborted && !isBehind) {
      if (waiting.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const cancel = setTimer(BEAT_MS, resolve);
        await promise;
        cancel();
      }
      const events = waiting;
      waiting = [];
      yield events.length === 0
        ? ': still here\n\n'
        : events.map((event) => `data: ${asJson(event)}\n\n`).join('');
    }
  } finally {
    end();
    signal.removeEventListener('abort', onAbort);
  }
}
