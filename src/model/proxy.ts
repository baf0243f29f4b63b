import type * as http from 'node:http';
import { ASK_NEXT_RUN, RUN_HEADER, WORK_HEADER } from '../lib/model-call.ts';
import { type ModelsOfRun, modelsOfRun, SIDE_WORK } from './candidates.ts';
import type { ModelFailure } from './failure.ts';
import { forwardCall, type NoAnswer, refuse } from './forward-call.ts';
import { openCallMeter } from './metering/call-meter.ts';
import { cutPromptIn, type PayingTurn } from './metering/paying-turn.ts';
import type { Model } from './model.ts';
import { refusedToolIn } from './quirks.ts';
import { type AskedCall, type CheckedCall, checkCall } from './request-check.ts';
import { callPath, modelUrl } from './upstream-request.ts';

const MAX_REQUEST_BYTES = 20 * 1_048_576;
/** Refusals of one request that are learnt from; each leaves out one thing more. */
const MAX_LESSONS = 8;

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
 * byte of an answer, no other is. Where the next one speaks another protocol, the agent is told to ask again in
 * that (421). The agent gets status, type and body; of an error's body at most 64 KB,
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
  const run = runOf(turn, request.headers);
  if (run === null) return refuse(response, 400, 'There is no such run of models.');
  const [first] = run.models;
  const path = callPath(first, request.method, request.url);
  if (path === null) return refuse(response, 403, 'Only the model can be called here.');
  const given = await readBody(request);
  if (given === null) return refuse(response, 413, 'The request is longer than 20 MB.');
  const signal = AbortSignal.any([turn.signal, goneSignal(response)]);
  const checked = await checkCall(first, given);
  if (typeof checked === 'string') return refuse(response, 400, checked);
  const call = { turn, timeoutMs, now, signal, path, checked, headers: request.headers };
  for (const [index, model] of run.models.entries()) {
    const failed = await askAndLearn(response, { ...call, model });
    if (failed === null) return;
    if (signal.aborted) return void response.destroy();
    if (run.isLast && index === run.models.length - 1) {
      turn.onModel(failed.failure, model);
      return void failed.reply();
    }
    turn.onPassedOver?.(model, failed.failure);
  }
  refuse(response, ASK_NEXT_RUN, 'Ask the next model, in its protocol.', 'claw_ask_next');
}

/** Returns the models that a call is for, as its headers say; null where there are none. */
function runOf(turn: PayingTurn, headers: http.IncomingHttpHeaders): ModelsOfRun | null {
  const work = SIDE_WORK.find((one) => one === headers[WORK_HEADER]);
  const models = (work === undefined ? undefined : turn.sideModels?.[work]) ?? turn.models;
  const run = Number(headers[RUN_HEADER] ?? 0);
  return Number.isInteger(run) ? modelsOfRun(models, run) : null;
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

/** Asks one model, and again where its refusal tells how to ask so that it answers. */
async function askAndLearn(
  response: http.ServerResponse,
  call: ModelCall,
): Promise<NoAnswer | null> {
  for (let more = MAX_LESSONS; ; more -= 1) {
    const asked = call.checked.askedOf(call.model);
    const failed = await askModel(response, { ...call, asked });
    const refusal = failed?.refusal;
    if (failed === null || refusal === undefined) return failed;
    const isAskedAgain = more > 0 && !call.signal.aborted;
    if (isAskedAgain && call.model.quirks.learn(refusal, asked.request)) continue;
    const tool = refusal.status < 500 ? refusedToolIn(refusal.body, asked.request) : null;
    return tool === null ? failed : { ...failed, failure: failureOfTool(failed.failure, tool) };
  }
}

/** Names the tool that a refusal is about, and with it its server, whose name it begins with. */
function failureOfTool(failure: ModelFailure, tool: string): ModelFailure {
  const hint = `It is about the tool \`${tool}\`: \`/tools off ${tool}\` leaves it out here.`;
  return { ...failure, message: `${failure.message} ${hint}` };
}

/** Asks one model. Returns null where the agent has been answered or is gone, else why it was not. */
async function askModel(
  response: http.ServerResponse,
  call: ModelCall & { readonly asked: AskedCall },
): Promise<NoAnswer | null> {
  const { turn, model, checked, asked, signal } = call;
  const url = modelUrl(model, call.path);
  const { body } = asked;
  if (model.protocol.freePaths.includes(call.path)) {
    return forwardCall(response, { ...call, url, body, isStream: false, meter: null });
  }
  const { atMost } = checked;
  const admission = await turn.silence.during(turn.admit({ model, atMost }, signal));
  if (admission.kind === 'refused') {
    // The agent has stopped waiting, which says nothing about the budget.
    if (signal.aborted) response.destroy();
    else {
      turn.onModel({ code: 'BUDGET', message: admission.message }, model);
      refuse(response, 402, admission.message, 'billing_error');
    }
    return null;
  }
  const meter = openCallMeter(
    checked,
    (counts) => {
      const cut = counts === null ? null : cutPromptIn(asked.request, counts);
      if (cut !== null) turn.onPromptCut?.(model, cut);
      admission.charge(counts);
    },
    call.now,
  );
  // At once, and not when the broken streams come to it: the books may be closed by then.
  signal.addEventListener('abort', () => meter.close({ isWhole: false }), { once: true });
  try {
    if (!signal.aborted)
      return await forwardCall(response, { ...call, url, body, isStream: checked.isStream, meter });
    response.destroy();
    return null;
  } finally {
    meter.close({ isWhole: false });
  }
}

/** Aborted when the agent gives up the call before its answer is complete. */
function goneSignal(response: http.ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (response.destroyed) gone.abort();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
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
