import type { LiveEvent } from '../../host/contracts/live-event.ts';
import type { ServiceContext } from '../../host/contracts/service.ts';

/** A browser that falls so far behind is cut off: it comes back, and reads everything anew. */
const MAX_WAITING = 2_000;
/** Silence of that length tells a browser that the connection is gone. */
const BEAT_MS = 15_000;

/** Sends what happens in the assistant as server-sent events, until the signal. */
export async function* streamOf(
  { watch, setTimer }: Pick<ServiceContext, 'watch' | 'setTimer'>,
  { signal, withLog }: { readonly signal: AbortSignal; readonly withLog: boolean },
): AsyncGenerator<string> {
  let waiting: LiveEvent[] = [];
  let wake = (): void => {};
  const end = watch((event) => {
    if (event.kind === 'log' && !withLog) return;
    waiting.push(event);
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener('abort', onAbort);
  try {
    yield 'retry: 1000\ndata: {"kind":"hello"}\n\n';
    while (!signal.aborted && waiting.length <= MAX_WAITING) {
      if (waiting.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const cancel = setTimer(BEAT_MS, resolve);
        await promise;
        cancel();
      }
      const events = waiting;
      waiting = [];
      yield events.length === 0 ? ': still here\n\n' : events.map(asText).join('');
    }
  } finally {
    end();
    signal.removeEventListener('abort', onAbort);
  }
}

function asText(event: LiveEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
