import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { APICallError, parseJsonEventStream, zodSchema } from 'ai';
import { z } from 'zod';
import { ASK_NEXT_RUN } from '../../../src/lib/model-call.ts';
import { MAX_CALLS, TooManyCalls } from '../bounded-calls.ts';
import { isTooLong } from '../conversation/too-long.ts';
import { plainMessages } from './plain-messages.ts';

/** The address of the model on the host's socket; there is no real host of this name. */
const MODEL = 'http://model.invalid';
const PATHS = ['/v1/messages', '/v1/messages/count_tokens'];
/** The fields of a request that ask for an answer and nothing else; the host refuses all others. */
const FIELDS = [
  'max_tokens',
  'messages',
  'metadata',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
];
const HEADERS = ['accept', 'anthropic-beta', 'anthropic-version', 'content-type'];
/** Far more than an answer has; the SDK's program dies of a million. */
const MAX_PARTS = 1_000;
const MAX_RETRIES = 2;
const NONE_LEFT = 'None of the models of this protocol answers.';
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 60_000;

const Body = z.looseObject({ stream: z.boolean().optional() });
const StreamEvent = z.looseObject({
  type: z.string(),
  error: z.looseObject({ message: z.string() }).optional(),
  content_block: z.looseObject({ type: z.string() }).optional(),
});

/** The way of the SDK's calls of the model, which knows addresses of HTTP only: a server on loopback. */
export type Forwarder = {
  readonly url: string;
  /** Why the model did not answer; null as long as it does. */
  readonly fault: Error | null;
  close(): void;
};

export type ForwarderParts = {
  /** The model of the turn, whatever the SDK asks for. */
  readonly model: string;
  /** Reaches the host; see `socketFetch`. */
  readonly fetch: typeof fetch;
  /** Told at the first fault: the SDK would try again for minutes. */
  readonly onFault: () => void;
};

/** None of the turn's models of this protocol has answered at all, and the host names the next protocol. */
export class OtherProtocol extends Error {
  override readonly name = 'OtherProtocol';
}

/** Opens the server. It tries again where that may help, as the agent's own loop does. */
export async function openForwarder(parts: ForwarderParts): Promise<Forwarder> {
  let fault: Error | null = null;
  let hasAnswered = false;
  const server = createServer((request, response) => {
    const onAnswer = () => {
      hasAnswered = true;
    };
    const call = { ...parts, onAnswer, mayAskOthers: !hasAnswered };
    forward(request, response, call).catch((error: unknown) => {
      // The SDK gave up the call, or the turn is over.
      if (response.destroyed) return;
      response.destroy();
      fault ??= error instanceof Error ? error : new Error(String(error));
      parts.onFault();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    get fault() {
      return fault;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Call = Pick<ForwarderParts, 'model' | 'fetch'> & {
  /** Told when the model has begun to answer. */
  readonly onAnswer: () => void;
  /** False once the model has answered in this turn: another one would do again what it has done. */
  readonly mayAskOthers: boolean;
};

/** @throws why there is no answer */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { model, fetch, onAnswer, mayAskOthers }: Call,
): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?');
  if (request.method !== 'POST' || !PATHS.includes(path)) {
    response.writeHead(404).end();
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const given = Body.parse(JSON.parse((await bytesOf(request)).toString()));
  const body = JSON.stringify({
    ...Object.fromEntries(FIELDS.flatMap((name) => (name in given ? [[name, given[name]]] : []))),
    model,
    ...('messages' in given ? { messages: plainMessages(given['messages']) } : {}),
  });
  const headers = Object.fromEntries(
    HEADERS.flatMap((name) => {
      const value = request.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
  const asked = { method: 'POST', headers, body, signal: gone.signal };
  const answer = await answered(() => fetch(`${MODEL}${path}`, asked), gone.signal);
  if (answer.status === ASK_NEXT_RUN && mayAskOthers) throw new OtherProtocol(NONE_LEFT);
  if (!answer.ok) return await refused(answer, response, `${MODEL}${path}`);
  onAnswer();
  await passOn(answer, response, given.stream === true);
}

async function answered(ask: () => Promise<Response>, signal: AbortSignal): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    const answer = await ask();
    const mayHelp = answer.status === 408 || answer.status === 429 || answer.status >= 500;
    if (!mayHelp || attempt === MAX_RETRIES) return answer;
    await answer.body?.cancel();
    const wanted = Number(answer.headers.get('retry-after') ?? Number.NaN) * 1_000;
    const pause = Number.isFinite(wanted) ? wanted : FIRST_PAUSE_MS * 2 ** attempt;
    await sleep(Math.min(pause, LONGEST_PAUSE_MS), null, { signal });
  }
}

/** Passes on only that the conversation is too long, which the SDK can mend. */
async function refused(answer: Response, response: ServerResponse, url: string): Promise<void> {
  const responseBody = await answer.text();
  const statusCode = answer.status;
  const error = new APICallError({
    message: statusCode === ASK_NEXT_RUN ? NONE_LEFT : `The model's server answered ${statusCode}.`,
    url,
    requestBodyValues: {},
    statusCode,
    responseBody,
  });
  if (!isTooLong(error)) throw error;
  response.writeHead(statusCode, { 'content-type': 'application/json' }).end(responseBody);
}

async function passOn(
  answer: Response,
  response: ServerResponse,
  isStream: boolean,
): Promise<void> {
  const type = answer.headers.get('content-type') ?? '';
  if (answer.body === null) throw new Error('it is empty');
  if (isStream && !type.includes('text/event-stream'))
    throw new Error('it is not a stream of events');
  response.writeHead(answer.status, { 'content-type': type });
  if (!isStream) {
    response.end(Buffer.from(await answer.arrayBuffer()));
    return;
  }
  await passOnEvents(answer.body, response);
  response.end();
}

/**
 * Passes each event on once it is read, at the pace of the SDK.
 *
 * @throws Error where the events are none of the Messages API, or the last is missing
 * @throws TooManyCalls before the call of a tool that is one too many
 */
async function passOnEvents(
  stream: ReadableStream<Uint8Array>,
  response: ServerResponse,
): Promise<void> {
  let last = '';
  let [calls, parts] = [0, 0];
  for await (const event of parseJsonEventStream({ stream, schema: zodSchema(StreamEvent) })) {
    if (!event.success) throw event.error;
    const { type, error, content_block } = event.value;
    if (type === 'error') throw new Error(error?.message ?? 'an error');
    if (content_block?.type === 'tool_use') calls += 1;
    if (calls > MAX_CALLS) throw new TooManyCalls();
    if (content_block !== undefined) parts += 1;
    if (parts > MAX_PARTS) throw new Error(`it has more than ${MAX_PARTS} parts`);
    last = type;
    const isTaken = response.write(`event: ${type}\ndata: ${JSON.stringify(event.value)}\n\n`);
    if (!isTaken) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (response.destroyed) return;
  }
  if (last !== 'message_stop') throw new Error('it broke off');
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}
