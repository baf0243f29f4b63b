import * as http from 'node:http';
import * as https from 'node:https';
import type { ModelSettings } from '../config.ts';
import type { ActivityWatchdog } from '../lib/activity-watchdog.ts';
import { type CallMeter, openCallMeter } from './call-meter.ts';
import {
  brokenFailure,
  connectionFailure,
  httpFailure,
  type ModelFailure,
  timeoutFailure,
  withoutKey,
} from './failure.ts';
import { checkCall } from './request-check.ts';
import type { Admission, TokenCounts } from './tokens.ts';
import { isFree, modelHeaders, modelUrl } from './upstream-request.ts';
import { countUsage } from './usage.ts';

const MAX_REQUEST_BYTES = 20 * 1_048_576;
const MAX_ERROR_BYTES = 65_536;
const ANSWER_HEADERS = ['content-type', 'request-id', 'retry-after', 'retry-after-ms'];

/** The turn on whose behalf an agent calls its model. */
export type PayingTurn = {
  /** What the model does is a sign of life of the agent's. */
  readonly silence: Pick<ActivityWatchdog, 'heard' | 'during'>;
  /** Aborted when the turn is over; calls still under way end with it. */
  readonly signal: AbortSignal;
  /** Asked before a call that costs something goes to the model's server, with the most it may take. */
  readonly admit: (atMost: TokenCounts, signal: AbortSignal) => Promise<Admission>;
  /** Called for every call: with why it failed, or null when the model began to answer. */
  readonly onModel: (failure: ModelFailure | null) => void;
};

export type ModelProxyParts = {
  readonly model: ModelSettings;
  /** How long the model's server may say nothing, before its answer or in the middle of it. */
  readonly timeoutMs: number;
};

/**
 * Passes one call of an agent on to the model, with the key added, and the answer back as it comes.
 *
 * Only the model's paths are passed on, only while a turn runs, and only what the turn's budget admits.
 * The agent gets status, type and body; of an error's body at most 64 KB, with the key blotted out in
 * case the far end repeats it. Failures of the connection come back as 424 and a budget that is used
 * up as 402, which no client retries.
 */
export async function proxyModelCall(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  parts: ModelProxyParts & { readonly turn: PayingTurn | null },
): Promise<void> {
  const { model, turn } = parts;
  const url = modelUrl(model, request.method, request.url);
  if (url === null) return refuse(response, 403, 'Only the model can be called here.');
  if (turn === null) return refuse(response, 409, 'The model answers only during a turn.');
  const given = await readBody(request);
  if (given === null) return refuse(response, 413, 'The request is longer than 20 MB.');
  const signal = AbortSignal.any([turn.signal, goneSignal(response)]);
  const call = { ...parts, turn, url, signal, headers: request.headers };
  const checked = checkCall(model, given);
  if (typeof checked === 'string') return refuse(response, 400, checked);
  if (isFree(url)) {
    return forward(response, { ...call, body: checked.body, meter: null });
  }
  const admission = await turn.silence.during(turn.admit(checked.atMost, signal));
  if (admission.kind === 'refused') {
    // Nobody waits any more: that says nothing about the budget.
    if (signal.aborted) return void response.destroy();
    turn.onModel({ code: 'BUDGET', message: admission.message });
    return refuse(response, 402, admission.message, 'billing_error');
  }
  const meter = openCallMeter(checked, admission.charge);
  // At once, and not when the broken streams come to it: the books may be closed by then.
  signal.addEventListener('abort', () => meter.close({ isWhole: false }), { once: true });
  try {
    if (signal.aborted) response.destroy();
    else await forward(response, { ...call, body: checked.body, meter });
  } finally {
    meter.close({ isWhole: false });
  }
}

type Call = ModelProxyParts & {
  readonly turn: PayingTurn;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly url: URL;
  readonly body: Buffer;
  readonly headers: http.IncomingHttpHeaders;
  /** Null for a call that costs nothing. */
  readonly meter: CallMeter | null;
};

/** Aborted when the agent gives up the call before its answer is complete. */
function goneSignal(response: http.ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

function refuse(
  response: http.ServerResponse,
  status: number,
  message: string,
  type = 'claw_refused',
): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
  // The shape that both providers give their errors, so that any client shows the sentence.
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}

/** Null when it is too long. What is left of it is not read; closing the connection ends it. */
async function readBody(request: http.IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_REQUEST_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function forward(response: http.ServerResponse, call: Call): Promise<void> {
  const fail = (failure: ModelFailure) => {
    // Nobody waits any more, which is no failure of the model.
    if (call.signal.aborted) return void response.destroy();
    call.turn.onModel(failure);
    if (response.headersSent) response.destroy();
    else refuse(response, 424, failure.message);
  };
  let answer: http.IncomingMessage;
  try {
    answer = await call.turn.silence.during(ask(call));
  } catch (error) {
    return fail(
      error instanceof ResponseTimeout
        ? timeoutFailure(call.model, call.timeoutMs)
        : connectionFailure(call.model, error),
    );
  }
  const status = answer.statusCode ?? 502;
  try {
    if (status >= 200 && status < 300) await passOn(answer, response, call);
    else await passOnError(answer, response, call);
  } catch (error) {
    fail(
      error instanceof ResponseTimeout
        ? timeoutFailure(call.model, call.timeoutMs)
        : brokenFailure(call.model),
    );
  }
}

class ResponseTimeout extends Error {
  override readonly name = 'ResponseTimeout';
}

/** Resolves with the head of the answer. After too long a silence, call and answer end with a `ResponseTimeout`. */
function ask(call: Call): Promise<http.IncomingMessage> {
  const { request } = call.url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const outgoing = request(call.url, {
      method: 'POST',
      headers: { ...modelHeaders(call.model, call.headers), 'content-length': call.body.length },
      signal: call.signal,
      timeout: call.timeoutMs,
    });
    let answer: http.IncomingMessage | null = null;
    outgoing.on('finish', () => call.meter?.sent());
    outgoing.on('timeout', () => (answer ?? outgoing).destroy(new ResponseTimeout()));
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // The server closed a kept connection in the moment it was taken up again: it saw no request.
      const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET' && answer === null;
      if (isStale) resolve(ask(call));
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
  call: Call,
): Promise<void> {
  const isStream = (answer.headers['content-type'] ?? '').includes('text/event-stream');
  const counter = countUsage(isStream);
  call.meter?.answered(counter);
  call.turn.onModel(null);
  response.writeHead(answer.statusCode ?? 200, answerHeaders(answer));
  for await (const chunk of answer) {
    counter.write(chunk);
    call.turn.silence.heard();
    if (!response.write(chunk)) await untilTaken(call, drained(response));
  }
  // Before the agent has the end: its next call must find this one counted.
  call.meter?.close({ isWhole: answer.complete });
  response.end();
}

function untilTaken({ meter }: Call, taken: Promise<void>): Promise<void> {
  return meter === null ? taken : meter.pausedDuring(taken);
}

async function passOnError(
  answer: http.IncomingMessage,
  response: http.ServerResponse,
  call: Call,
): Promise<void> {
  call.meter?.refused();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer) {
    sizeBytes += chunk.length;
    if (sizeBytes <= MAX_ERROR_BYTES) chunks.push(chunk);
  }
  const body = withoutKey(call.model, Buffer.concat(chunks).toString());
  const status = answer.statusCode ?? 502;
  call.turn.onModel(httpFailure(call.model, status, body));
  response.writeHead(status, answerHeaders(answer));
  response.end(body);
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
