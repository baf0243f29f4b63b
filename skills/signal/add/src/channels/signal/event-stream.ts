import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { HttpFailure } from '../kit/http.ts';
import { linesOf } from '../kit/lines.ts';

/** signal-cli writes a line every 15 seconds, also when nothing happens. */
const SILENCE_MS = 60_000;

/** The time for events that are on their way at an end that we choose: signal-cli does not send them again. */
const LAST_WORDS_MS = 20;

/** A stream of events that is open. */
export type EventStream = {
  /** The data of each event, when it is whole. Ends or throws with the connection. */
  readonly events: AsyncIterable<string>;
  /**
   * Ends the connection by a reset: signal-cli then loses at most the next message that it writes. After an orderly
   * end it would go on writing to nobody until the network tells it.
   */
  close(): void;
};

/**
 * Opens the stream of what signal-cli receives.
 *
 * @throws HttpFailure
 */
export async function openEvents(address: string, signal: AbortSignal): Promise<EventStream> {
  const response = await answerTo(address, signal);
  const { socket, statusCode = 0 } = response;
  socket.setTimeout(SILENCE_MS, () => socket.destroy(new Error('no sign of life')));
  if (statusCode !== 200) {
    response.destroy();
    const reason = `error ${statusCode}`;
    throw new HttpFailure(reason, { status: statusCode, waitMs: null, mayBeDone: false });
  }
  const close = () => void (socket.destroyed || socket.resetAndDestroy());
  // Where the process was busy for as long, what has arrived is read before the immediate.
  const end = () => void setTimeout(() => setImmediate(close), LAST_WORDS_MS);
  signal.addEventListener('abort', end, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', end));
  return { events: dataOf(response), close };
}

function answerTo(address: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const begin = address.startsWith('https:') ? httpsRequest : httpRequest;
  const asked = begin(address, { agent: false, timeout: SILENCE_MS });
  const stop = () => void asked.destroy(new Error('stopped'));
  signal.addEventListener('abort', stop, { once: true });
  asked.once('response', (response) => {
    signal.removeEventListener('abort', stop);
    resolve(response);
  });
  asked.once('timeout', () => asked.destroy(new Error('no answer')));
  asked.once('error', (error) => {
    const reason = 'code' in error && typeof error.code === 'string' ? error.code : 'no answer';
    reject(new HttpFailure(reason, { status: null, waitMs: null, mayBeDone: false }));
  });
  asked.end();
  if (signal.aborted) stop();
  return promise;
}

/** Reads server-sent events: those of the kind `receive`, which have one line of data. */
async function* dataOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of linesOf(bytes)) {
    if (line === '') {
      if (data.length > 0) yield data.join('\n');
      data = [];
    } else if (line.startsWith('data:')) {
      data.push(line.slice('data:'.length).replace(/^ /, ''));
    }
  }
}
