import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AnthropicRequest, type Refusal, readRequest } from './anthropic-request.ts';
import {
  ANSWER_USAGE,
  type AnthropicBlock,
  messageEvents,
  type StreamEvent,
  wholeMessage,
} from './anthropic-stream.ts';

export { type AnthropicRequest, lastToolResults, lastUserText } from './anthropic-request.ts';
export type { AnthropicBlock } from './anthropic-stream.ts';

/** The server's reaction to a request: an answer in blocks, or one of the ways in which servers misbehave. */
export type AnthropicReply =
  | readonly AnthropicBlock[]
  | {
      readonly kind: 'error';
      readonly status: 400 | 401 | 404 | 429 | 500 | 529;
      readonly message?: string;
    }
  /** An answer that is said to have cost so many tokens of input. */
  | {
      readonly kind: 'counted';
      readonly blocks: readonly AnthropicBlock[];
      readonly inputTokens: number;
    }
  /** An answer that ends for this reason, whatever is in it. */
  | {
      readonly kind: 'ended';
      readonly blocks: readonly AnthropicBlock[];
      readonly stopReason: string;
    }
  /** An error as the first event of the stream. */
  | { readonly kind: 'error-in-stream'; readonly type: string; readonly message: string }
  /** Says nothing until the client gives up. */
  | { readonly kind: 'stall' }
  /** Breaks the connection after the first few events of the answer. */
  | { readonly kind: 'drop'; readonly blocks: readonly AnthropicBlock[] }
  /** Status 200 and a body that is not a stream of events. */
  | { readonly kind: 'garbage' }
  /** The answer's bytes in pieces of `chunkBytes`, with pauses, cutting through lines and characters. */
  | {
      readonly kind: 'slow';
      readonly blocks: readonly AnthropicBlock[];
      readonly chunkBytes: number;
      readonly delayMs: number;
    };

export type AnthropicScript = (
  request: AnthropicRequest,
) => AnthropicReply | Promise<AnthropicReply>;

export type AnthropicServer = {
  readonly url: string;
  /** Every request that was well-formed, oldest first. */
  readonly requests: readonly AnthropicRequest[];
  close(): Promise<void>;
};

/** Starts a server on loopback that speaks the Anthropic Messages API, with and without streaming. */
export async function startAnthropicServer(script: AnthropicScript): Promise<AnthropicServer> {
  const requests: AnthropicRequest[] = [];
  const server = createServer((incoming, response) => {
    // A client that went away in the middle is an end like any other.
    serve(incoming, response, { script, requests }).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

type Scene = { readonly script: AnthropicScript; readonly requests: AnthropicRequest[] };

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  { script, requests }: Scene,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  if (incoming.method !== 'POST' || incoming.url !== '/v1/messages') {
    return refuse(response, { status: 404, type: 'not_found_error', message: 'Not found' });
  }
  const text = Buffer.concat(chunks).toString();
  const request = readRequest(incoming.url, incoming.headers, text);
  if ('status' in request) return refuse(response, request);
  requests.push(request);
  await reply(response, request, await script(request));
}

function refuse(response: ServerResponse, { status, type, message }: Refusal): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 429 || status >= 500 ? { 'retry-after': '0' } : {}),
  });
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}

const ERROR_TYPES = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
} as const;

async function reply(
  response: ServerResponse,
  request: AnthropicRequest,
  answer: AnthropicReply,
): Promise<void> {
  if (!('kind' in answer)) return answerWith(response, request, answer);
  switch (answer.kind) {
    case 'error': {
      const type = ERROR_TYPES[answer.status];
      return refuse(response, { ...answer, type, message: answer.message ?? type });
    }
    case 'counted':
      return answerWith(response, request, answer.blocks, answer.inputTokens);
    case 'ended': {
      const events = messageEvents(request.body.model, answer.blocks).map((event) =>
        event.type === 'message_delta'
          ? { ...event, delta: { stop_reason: answer.stopReason, stop_sequence: null } }
          : event,
      );
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(events.map(encode).join(''));
      return;
    }
    case 'error-in-stream': {
      const { type, message } = answer;
      const [start] = messageEvents(request.body.model, []);
      response.writeHead(200, { 'content-type': 'text/event-stream', 'retry-after': '0' });
      response.write(start === undefined ? '' : encode(start));
      response.end(encode({ type: 'error', error: { type, message } }));
      return;
    }
    case 'stall':
      return;
    case 'garbage':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<html><body>Welcome to the hotel network</body></html>');
      return;
    case 'drop': {
      const events = messageEvents(request.body.model, answer.blocks);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(events.slice(0, 4).map(encode).join(''), () => response.destroy());
      return;
    }
    case 'slow': {
      const bytes = Buffer.from(
        messageEvents(request.body.model, answer.blocks).map(encode).join(''),
      );
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let from = 0; from < bytes.length && !response.destroyed; from += answer.chunkBytes) {
        response.write(bytes.subarray(from, from + answer.chunkBytes));
        await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
      }
      response.end();
    }
  }
}

function answerWith(
  response: ServerResponse,
  { body }: AnthropicRequest,
  blocks: readonly AnthropicBlock[],
  inputTokens: number = ANSWER_USAGE.input_tokens,
): void {
  if (body.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(wholeMessage(body.model, blocks, inputTokens)));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of messageEvents(body.model, blocks, inputTokens)) response.write(encode(event));
  response.end();
}

function encode(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
