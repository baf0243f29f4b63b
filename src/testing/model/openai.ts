import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { brokenChatRule } from './openai-rules.ts';

const Body = z.looseObject({
  model: z.string().min(1),
  messages: z
    .array(z.looseObject({ role: z.enum(['system', 'user', 'assistant', 'tool']) }))
    .min(1),
  stream: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).optional(),
});

export type OpenAiRequest = {
  readonly headers: IncomingHttpHeaders;
  readonly body: z.output<typeof Body>;
};

export type OpenAiServer = {
  readonly url: string;
  readonly requests: readonly OpenAiRequest[];
  close(): Promise<void>;
};

/** A refusal, as the server words it. */
export type OpenAiRefusal = { readonly status: number; readonly message: string };

/** Calls of tools, all at once, in place of an answer in words. */
export type OpenAiCalls = {
  readonly calls: readonly { readonly name: string; readonly input: unknown }[];
};

/** Answers `GET /v1/models`. */
export type ListScript = (response: ServerResponse, headers: IncomingHttpHeaders) => void;

/** Returns what answers with a list of these models. */
export function listOf(...entries: readonly (string | object)[]): ListScript {
  const data = entries.map((entry) =>
    typeof entry === 'string' ? { id: entry, object: 'model' } : entry,
  );
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data }));
  };
}

/** Starts a server on loopback that speaks OpenAI's chat completions, and answers as the script says. */
export async function startOpenAiServer(
  script: (request: OpenAiRequest) => string | OpenAiCalls | OpenAiRefusal,
  list: ListScript | null = null,
): Promise<OpenAiServer> {
  const requests: OpenAiRequest[] = [];
  const server = createServer(async (incoming, response) => {
    if (list !== null && incoming.method === 'GET' && incoming.url === '/v1/models') {
      return list(response, incoming.headers);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    if (incoming.method !== 'POST' || incoming.url !== '/v1/chat/completions') {
      return refuse(response, 404, 'Unknown request URL');
    }
    const parsed = Body.safeParse(JSON.parse(Buffer.concat(chunks).toString()));
    if (!parsed.success) return refuse(response, 400, z.prettifyError(parsed.error));
    const broken = brokenChatRule(parsed.data);
    if (broken !== null) return refuse(response, 400, broken);
    const request = { headers: incoming.headers, body: parsed.data };
    requests.push(request);
    const said = script(request);
    if (typeof said === 'string') answer(response, request, [...pieces(said)], 'stop');
    else if ('calls' in said) answer(response, request, [callsIn(said)], 'tool_calls');
    else refuse(response, said.status, said.message);
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

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: 'invalid_request_error', code: null } }));
}

const USAGE = { prompt_tokens: 30, completion_tokens: 5, total_tokens: 35 };

type Delta = { readonly content?: string; readonly tool_calls?: readonly object[] };

function* pieces(text: string): Iterable<Delta> {
  for (const content of text.match(/.{1,8}/gsu) ?? []) yield { content };
}

function callsIn({ calls }: OpenAiCalls): Delta {
  return {
    tool_calls: calls.map(({ name, input }, index) => ({
      index,
      id: `call_${randomUUID()}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    })),
  };
}

function answer(
  response: ServerResponse,
  { body }: OpenAiRequest,
  deltas: readonly Delta[],
  finish: 'stop' | 'tool_calls',
): void {
  const common = { id: 'chatcmpl-1', created: 1_700_000_000, model: body.model };
  if (body.stream !== true) {
    const content = deltas.map((delta) => delta.content ?? '').join('');
    const calls = deltas.flatMap(({ tool_calls: made = [] }) => made);
    const message = {
      role: 'assistant',
      content,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const choices = [{ index: 0, message, finish_reason: finish }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage: USAGE }));
    return;
  }
  const chunk = (choices: readonly unknown[], usage: typeof USAGE | null) =>
    `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, usage })}\n\n`;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of deltas) {
    const delta = { role: 'assistant', ...piece };
    response.write(chunk([{ index: 0, delta, finish_reason: null }], null));
  }
  response.write(chunk([{ index: 0, delta: {}, finish_reason: finish }], null));
  if (body.stream_options?.include_usage === true) response.write(chunk([], USAGE));
  response.end('data: [DONE]\n\n');
}
