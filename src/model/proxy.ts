import * as http from 'node:http';
import * as https from 'node:https';
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
import type { Model } from './model.ts';
import { type CheckedCall, checkCall } from './request-check.ts';
import type { Admission, TokenCounts } from './tokens.ts';
import { callPath, modelHeaders, modelUrl } from './upstream-request.ts';
import { countUsage } from './usage.ts';

const MAX_REQUEST_BYTES = 20 * 1_048_576;
const MAX_ERROR_BYTES = 65_536;
const ANSWER_HEADERS = ['content-type', 'request-id', 'retry-after', 'retry-after-ms'];

/** A call of the model that costs something: which model is asked, and the most that it may take. */
export type PaidCall = { readonly model: Model; readonly atMost: TokenCounts };

/** The turn on whose behalf an agent calls its model. */
export type PayingTurn = {
  /** The models that may answer, best first. All speak the protocol of the first. */
  readonly models: readonly [Model, ...Model[]];
  /** The watchdog of the agent: bytes from its model count as a sign of life. */
  readonly silence: Pick<ActivityWatchdog, 'heard' | 'during'>;
  /** Aborted when the turn is over; calls still under way end with it. */
  readonly signal: AbortSignal;
  /** Asked before a call that costs something goes to a model's server. */
  readonly admit: (call: PaidCall, signal: AbortSignal) => Promise<Admission>;
  /** Called for every call: with why it failed at last, or null when a model began to answer. */
  readonly onModel: (failure: ModelFailure | null) => void;
  /** Called for a model that gave no answer, where the next one is asked. */
  readonly onPassedOver?: (model: Model, failure: ModelFailure) => void;
};

export type ModelProxyParts = {
  /** The longest silence of the model's server, before its answer or in the middle of it. */
  readonly timeoutMs: number;
  /** A clock for lengths of time, in milliseconds. This process's own by default. */
  readonly now?: (() => number) | undefined;
};

/**
 * Passes one call of an agent on to a model, with the key added, and the answer back as it comes.
 *
 * Only the model's paths are passed on, only while a turn runs, and only what the turn's budget admits.
 * Where a model gives no answer, the next of the turn's models is asked; once the agent has the first
 * byte of an answer, no other is. The agent gets status, type and body; of an error's body at most 64 KB,
 * with the key blotted out in case the far end repeats it. Failures of the connection come back as 424
 * and a budget that is used up as 402, which no client retries.
 */
export async function proxyModelCall(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  parts: ModelProxyParts & { readonly turn: PayingTurn | null },
): Promise<void> {
  const { turn, timeoutMs, now } = parts;
  if (turn === null) return refuse(response, 409, 'The model answers only during a turn.');
  const [first] = turn.models;
  const path = callPath(first, request.method, request.url);
  if (path === null) return refuse(response, 403, 'Only the model can be called here.');
  const given = await readBody(request);
  if (given === null) return refuse(response, 413, 'The request is longer than 20 MB.');
  const signal = AbortSignal.any([turn.signal, goneSignal(response)]);
  const checked = checkCall(first, given);
  if (typeof checked === 'string') return refuse(response, 400, checked);
  const call = { turn, timeoutMs, now, signal, path, checked, headers: request.headers };
  for (const [index, model] of turn.models.entries()) {
    const failed = await askModel(response, { ...call, model });
    if (failed === null) return;
    if (signal.aborted) return void response.destroy();
    if (index === turn.models.length - 1) {
      turn.onModel(failed.failure);
      return void failed.reply();
    }
    turn.onPassedOver?.(model, failed.failure);
  }
}

/** A call, as one of the turn's models is asked. */
type ModelCall = ModelProxyParts & {
  readonly turn: PayingTurn;
  readonly model: Model;
  readonly path: string;
  readonly checked: CheckedCall;
  /** Aborted when the agent no longer waits for the answer. */
  readonly signal: AbortSignal;
  readonly headers: http.IncomingHttpHeaders;
};

/** Why a model gave no answer; `reply` tells the agent, where no other model is asked. */
type Failed = { readonly failure: ModelFailure; readonly reply: () => void };

/** Asks one model. Returns null where the agent has been answered or is gone, else why it was not. */
async function askModel(response: http.ServerResponse, call: ModelCall): Promise<Failed | null> {
  const { turn, model, checked, signal } = call;
  const url = modelUrl(model, call.path);
  const body = checked.bodyFor(model);
  if (model.protocol.freePaths.includes(call.path)) {
    return forward(response, { ...call, url, body, meter: null });
  }
  const { atMost } = checked;
  const admission = await turn.silence.during(turn.admit({ model, atMost }, signal));
  if (admission.kind === 'refused') {
    // The agent has stopped waiting, which says nothing about the budget.
    if (signal.aborted) response.destroy();
    else {
      turn.onModel({ code: 'BUDGET', message: admission.message });
      refuse(response, 402, admission.message, 'billing_error');
    }
    return null;
  }
  const meter = openCallMeter(checked, admission.charge, call.now);
  // At once, and not when the broken streams come to it: the books may be closed by then.
  signal.addEventListener('abort', () => meter.close({ isWhole: false }), { once: true });
  try {
    if (!signal.aborted) return await forward(response, { ...call, url, body, meter });
    response.destroy();
    return null;
  } finally {
    meter.close({ isWhole: false });
  }
}

type Call = ModelCall & {
  readonly url: URL;
  readonly body: Buffer;
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
  // The shape that servers of either protocol give their errors, so that any client shows the sentence.
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}

/** Reads a request's body; null when it is too long. The rest is not read; closing the connection ends it. */
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

/** Sends the call to the model's server. Returns null once the agent has got the first byte of an answer. */
async function forward(response: http.ServerResponse, call: Call): Promise<Failed | null> {
  const { model, timeoutMs } = call;
  const failedBy = (failure: ModelFailure): Failed => ({
    failure,
    reply: () => refuse(response, 424, failure.message),
  });
  const brokenBy = (error: unknown): ModelFailure =>
    error instanceof ResponseTimeout ? timeoutFailure(model, timeoutMs) : brokenFailure(model);
  let answer: http.IncomingMessage;
  try {
    answer = await call.turn.silence.during(ask(call));
  } catch (error) {
    if (error instanceof ResponseTimeout) return failedBy(timeoutFailure(model, timeoutMs));
    return failedBy(connectionFailure(model, error));
  }
  const status = answer.statusCode ?? 502;
  try {
    if (status >= 200 && status < 300) await passOn(answer, response, call);
    else return await readError(answer, response, call);
  } catch (error) {
    const failure = brokenBy(error);
    if (!response.headersSent) return failedBy(failure);
    // The agent has a part of the answer: another model would begin it again.
    if (!call.signal.aborted) call.turn.onModel(failure);
    response.destroy();
  }
  return null;
}

class ResponseTimeout extends Error {
  override readonly name = 'ResponseTimeout';
}

/** Resolves with the head of the answer. After too long a silence, call and answer end with a `ResponseTimeout`. */
async function ask(call: Call): Promise<http.IncomingMessage> {
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
  const counter = countUsage(isStream, call.model.countsIn);
  call.meter?.answered(counter);
  for await (const chunk of answer) {
    if (!response.headersSent) begin(answer, response, call);
    counter.write(chunk);
    call.turn.silence.heard();
    if (!response.write(chunk)) await untilTaken(call, drained(response));
  }
  if (!response.headersSent) begin(answer, response, call);
  // Before the agent has the end: its next call must find this one counted.
  call.meter?.close({ isWhole: answer.complete });
  response.end();
}

function untilTaken({ meter }: Call, taken: Promise<void>): Promise<void> {
  return meter === null ? taken : meter.pausedDuring(taken);
}

function begin(answer: http.IncomingMessage, response: http.ServerResponse, call: Call): void {
  call.turn.onModel(null);
  response.writeHead(answer.statusCode ?? 200, answerHeaders(answer));
}

async function readError(
  answer: http.IncomingMessage,
  response: http.ServerResponse,
  call: Call,
): Promise<Failed> {
  call.meter?.refused();
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of answer) {
    sizeBytes += chunk.length;
    if (sizeBytes <= MAX_ERROR_BYTES) chunks.push(chunk);
  }
  const body = withoutKey(call.model, Buffer.concat(chunks).toString());
  const status = answer.statusCode ?? 502;
  return {
    failure: httpFailure(call.model, status, body),
    reply() {
      response.writeHead(status, answerHeaders(answer));
      response.end(body);
    },
  };
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
