import * as http from 'node:http';
import * as https from 'node:https';
import {
  brokenFailure,
  connectionFailure,
  endlessFailure,
  httpFailure,
  type ModelFailure,
  timeoutFailure,
  unstreamedFailure,
  withoutKey,
} from './failure.ts';
import type { CallMeter } from './metering/call-meter.ts';
import type { PayingTurn } from './metering/paying-turn.ts';
import { countUsage } from './metering/usage.ts';
import type { Model } from './model.ts';
import { type StreamError, StreamHead } from './stream-head.ts';
import { modelHeaders } from './upstream-request.ts';

const MAX_ERROR_BYTES = 65_536;
const ANSWER_HEADERS = ['content-type', 'request-id', 'retry-after', 'retry-after-ms'];

/** A call as it goes to one model's server. */
export type ForwardedCall = {
  readonly turn: Pick<PayingTurn, 'silence' | 'onModel'>;
  readonly model: Model;
  readonly url: URL;
  readonly body: Buffer;
  readonly headers: http.IncomingHttpHeaders;
  /** The longest silence of the model's server, before its answer or in the middle of it. */
  readonly timeoutMs: number;
  /** Aborted when the agent no longer waits for the answer. */
  readonly signal: AbortSignal;
  /** A clock for lengths of time, in milliseconds. This process's own by default. */
  readonly now?: (() => number) | undefined;
  /** Whether the agent asks for server-sent events. */
  readonly isStream: boolean;
  /** Null for a call that costs nothing. */
  readonly meter: CallMeter | null;
};

/** Why a model gave no answer; `reply` tells the agent, where no other model is asked. */
export type NoAnswer = {
  readonly failure: ModelFailure;
  readonly reply: () => void;
  /** The server's own answer, where it refused the request. */
  readonly refusal?: { readonly status: number; readonly body: string };
};

/** How a server's lines end no more: too long, begun and never ended, or too many, or for too long. */
class EndlessLine extends Error {
  override readonly name = 'EndlessLine';
  readonly why: string;

  constructor(why: string) {
    super(why);
    this.why = why;
  }
}

/** Sends the call to the model's server. Returns null once the agent has got the first byte of an answer. */
export async function forwardCall(
  response: http.ServerResponse,
  call: ForwardedCall,
): Promise<NoAnswer | null> {
  const { model, timeoutMs } = call;
  const failedBy = (failure: ModelFailure): NoAnswer => ({
    failure,
    reply: () => refuse(response, 424, failure.message),
  });
  const brokenBy = (error: unknown): ModelFailure => {
    if (error instanceof EndlessLine) return endlessFailure(model, error.why);
    return error instanceof ResponseTimeout
      ? timeoutFailure(model, timeoutMs)
      : brokenFailure(model);
  };
  let answer: http.IncomingMessage;
  try {
    answer = await call.turn.silence.during(askServer(call));
  } catch (error) {
    if (error instanceof ResponseTimeout) return failedBy(timeoutFailure(model, timeoutMs));
    return failedBy(connectionFailure(model, error));
  }
  const status = answer.statusCode ?? 502;
  try {
    if (status < 200 || status >= 300) return await readError(answer, response, call);
    if (call.isStream && isPage(answer)) {
      return failedBy(unstreamedFailure(model, status, await readRefusal(answer, call)));
    }
    return await passOn(answer, response, call);
  } catch (error) {
    const failure = brokenBy(error);
    if (!response.headersSent) return failedBy(failure);
    // The agent has a part of the answer: another model would begin it again.
    if (!call.signal.aborted) call.turn.onModel(failure, call.model);
    response.destroy();
  }
  return null;
}

class ResponseTimeout extends Error {
  override readonly name = 'ResponseTimeout';
}

/** Resolves with the head of the answer. After too long a silence, call and answer end with a `ResponseTimeout`. */
async function askServer(call: ForwardedCall): Promise<http.IncomingMessage> {
  const { request } = call.url.protocol === 'https:' ? https : http;
  const headers = await modelHeaders(call.model, call.headers);
  return new Promise((resolve, reject) => {
    const outgoing = request(call.url, {
      method: 'POST',
      headers: { ...headers, 'content-length': call.body.length },
      signal: call.signal,
      timeout: call.timeoutMs,
    });
    let answer: http.IncomingMessage | null = null;
    outgoing.on('finish', () => call.meter?.sent());
    outgoing.on('timeout', () => (answer ?? outgoing).destroy(new ResponseTimeout()));
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed a kept connection in the moment it was taken up again: it saw no request.
      const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET' && answer === null;
      if (isStale) resolve(askServer(call));
      else reject(error);
    });
    outgoing.on('response', (incoming) => {
      answer = incoming;
      resolve(incoming);
    });
    outgoing.end(call.body);
  });
}

async function passOn(
  answer: http.IncomingMessage,
  response: http.ServerResponse,
  call: ForwardedCall,
): Promise<NoAnswer | null> {
  const isStream = (answer.headers['content-type'] ?? '').includes('text/event-stream');
  const counter = countUsage(isStream, call.model.countsIn);
  call.meter?.answered(counter);
  const lines = boundLines(isStream ? call.timeoutMs : null, call.now ?? (() => performance.now()));
  const filter = createKeyFilter(call.model.server.secrets());
  const head = new StreamHead(call.model.protocol.headEventOf);
  for await (const chunk of answer) {
    lines.read(chunk);
    counter.write(chunk);
    call.turn.silence.heard();
    const taken = isStream ? head.take(chunk) : chunk;
    if (taken === null) continue;
    if (!Buffer.isBuffer(taken)) return refusedInStream(answer, response, { call, error: taken });
    if (!response.headersSent) begin(answer, response, call);
    if (!response.write(filter.pass(taken))) {
      await untilTaken(call, drained(response));
      lines.paused();
    }
  }
  if (!response.headersSent) begin(answer, response, call);
  if (isStream) response.write(filter.pass(head.end()));
  // Before the agent has the end: its next call must find this one counted.
  call.meter?.close({ isWhole: answer.complete });
  response.end(filter.end());
  return null;
}

/** Makes a refusal of an error that came before the first word, so that it is tried again like one before the stream. */
function refusedInStream(
  answer: http.IncomingMessage,
  response: http.ServerResponse,
  { call, error }: { readonly call: ForwardedCall; readonly error: StreamError },
): NoAnswer {
  call.meter?.refused();
  answer.destroy();
  const { status } = error;
  const body = withoutKey(call.model, error.body);
  return {
    failure: httpFailure(call.model, status, body),
    refusal: { status, body },
    reply() {
      response.writeHead(status, { ...answerHeaders(answer), 'content-type': 'application/json' });
      response.end(body);
    },
  };
}

function untilTaken({ meter }: ForwardedCall, taken: Promise<void>): Promise<void> {
  return meter === null ? taken : meter.pausedDuring(taken);
}

function begin(
  answer: http.IncomingMessage,
  response: http.ServerResponse,
  call: ForwardedCall,
): void {
  call.turn.onModel(null, call.model);
  response.writeHead(answer.statusCode ?? 200, answerHeaders(answer));
}

/** Longer than any line of a real answer, and than any answer in one piece. */
const MAX_LINE_BYTES = 8_388_608;
/** Far more than the longest answer takes, at some hundred bytes for each token. */
const MAX_ANSWER_BYTES = 67_108_864;
/** Longer than the longest answer of a slow model; a server that only says that it works never ends. */
const MAX_ANSWER_MS = 3_600_000;
const NEWLINE = 10;

type LineBounds = {
  /** Takes the next piece of the answer. @throws EndlessLine */
  read(chunk: Buffer): void;
  /** The agent held the answer up: a line that is under way has its whole time again. */
  paused(): void;
};

/**
 * Bounds an answer that passes by, and its lines. A server that sends a byte now and then is never silent, so the time
 * of a line counts from its first byte.
 *
 * @param slowestMs the longest time of one line; null where an answer has no lines
 */
function boundLines(slowestMs: number | null, now: () => number): LineBounds {
  let [pendingBytes, sizeBytes] = [0, 0];
  let begunAt: number | null = null;
  const startedAt = now();
  return {
    read(chunk) {
      const at = now();
      if (at - startedAt > MAX_ANSWER_MS) throw new EndlessLine('answered for more than an hour');
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_ANSWER_BYTES) throw new EndlessLine('sent more than 64 MB');
      const first = chunk.indexOf(NEWLINE);
      const longest = pendingBytes + (first === -1 ? chunk.length : first);
      if (longest > MAX_LINE_BYTES) throw new EndlessLine('sent a line of more than 8 MB');
      if (slowestMs !== null && begunAt !== null && at - begunAt > slowestMs) {
        const seconds = Math.round(slowestMs / 1000);
        throw new EndlessLine(`began a line and did not end it within ${seconds} s`);
      }
      pendingBytes = first === -1 ? longest : chunk.length - 1 - chunk.lastIndexOf(NEWLINE);
      if (pendingBytes === 0) begunAt = null;
      else if (first !== -1 || begunAt === null) begunAt = at;
    },
    paused() {
      if (begunAt !== null) begunAt = now();
    },
  };
}

/** Blots keys out of bytes that pass by. */
interface KeyFilter {
  /** Returns what can go on. Held back is only an end that may be the beginning of a key. */
  pass(chunk: Buffer): Buffer;
  /** Returns what was held back. */
  end(): Buffer;
}

/** Creates a filter for an answer: a server may repeat the key in it, also after the first byte, where it is a stream. */
function createKeyFilter(secrets: readonly string[]): KeyFilter {
  // As bytes, so that no character of the answer can be cut.
  const keys = secrets.filter(isNoWord).map((key) => latin1(Buffer.from(key)));
  const longest = Math.max(0, ...keys.map(({ length }) => length));
  let held = '';
  return {
    pass(chunk) {
      const text = keys.reduce((rest, key) => rest.replaceAll(key, '[key]'), held + latin1(chunk));
      let begins = Math.max(0, text.length - longest + 1);
      const isBeginning = (end: string) => keys.some((key) => key.startsWith(end));
      while (begins < text.length && !isBeginning(text.slice(begins))) begins += 1;
      held = text.slice(begins);
      return Buffer.from(text.slice(0, begins), 'latin1');
    },
    end: () => Buffer.from(held, 'latin1'),
  };
}

/** Servers of one's own take any word as their key, such as `lm-studio`, and an answer may be about it. */
function isNoWord(secret: string): boolean {
  return secret.length >= 16 && /\d/.test(secret);
}

function latin1(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/** Tells whether a server that was asked for a stream answers with a page for people, or with JSON. */
function isPage({ headers }: http.IncomingMessage): boolean {
  return /^\s*(text\/html|application\/json)\b/i.test(headers['content-type'] ?? '');
}

async function readError(
  answer: http.IncomingMessage,
  response: http.ServerResponse,
  call: ForwardedCall,
): Promise<NoAnswer> {
  const body = await readRefusal(answer, call);
  const status = answer.statusCode ?? 502;
  return {
    failure: httpFailure(call.model, status, body),
    refusal: { status, body },
    reply() {
      response.writeHead(status, answerHeaders(answer));
      response.end(body);
    },
  };
}

/** Reads the body of an answer that costs nothing, 64 KB at most, without the key. */
async function readRefusal(answer: http.IncomingMessage, call: ForwardedCall): Promise<string> {
  call.meter?.refused();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // A body that drips is never silent.
  const late = setTimeout(() => answer.destroy(new ResponseTimeout()), call.timeoutMs);
  try {
    for await (const chunk of answer) {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_ERROR_BYTES) break;
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(late);
  }
  return withoutKey(call.model, Buffer.concat(chunks).toString());
}

function answerHeaders(answer: http.IncomingMessage): http.OutgoingHttpHeaders {
  const present = ANSWER_HEADERS.filter((name) => answer.headers[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, answer.headers[name]]));
}

/** Resolves when the agent has taken what it was sent, or is gone. */
function drained(response: http.ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    // What is gone already says so no second time.
    if (response.destroyed) return resolve();
    const onEnd = () => {
      response.off('drain', onEnd);
      response.off('close', onEnd);
      resolve();
    };
    response.on('drain', onEnd);
    response.on('close', onEnd);
  });
}

/** Answers the agent in place of a model. */
export function refuse(
  response: http.ServerResponse,
  status: number,
  message: string,
  type = 'claw_refused',
): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  // The shape that servers of either protocol give their errors, so that any client shows the sentence.
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}
