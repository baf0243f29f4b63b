import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { z } from 'zod';

const Call = z.looseObject({
  id: z.string(),
  function: z.object({ name: z.string(), arguments: z.string() }),
});
const Message = z.looseObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.unknown(),
  tool_calls: z.array(Call).optional(),
  tool_call_id: z.string().optional(),
});
const Body = z.looseObject({
  model: z.string(),
  messages: z.array(Message),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
  stream: z.boolean().optional(),
});
export type Asked = z.output<typeof Body>;

/** A provider's way of speaking chat completions, as its public reference and its known departures have it. */
export type Tongue = {
  /** Says why such a server refuses a request: its status and body; null where it takes it. */
  readonly refuses?: (asked: Asked) => { status: number; body: unknown } | null;
  /** The chunks of an answer that calls the tool with these inputs. */
  readonly calls: (inputs: readonly string[]) => readonly unknown[];
  /** The chunks of an answer in words. */
  readonly says: (text: string) => readonly unknown[];
  /** The list of models, as `GET /models` gives it. */
  readonly list: unknown;
  /** Sent between chunks. */
  readonly comment?: string;
};

export type TongueServer = AsyncDisposable & {
  readonly url: string;
  readonly asked: Asked[];
  readonly headers: IncomingHttpHeaders[];
};

/**
 * Starts a server that speaks so: asked something, it calls the tool `shell` twice, and then says what came of it.
 * `fails` is a status and body for every request.
 */
export async function startTongue(
  tongue: Tongue,
  fails: { readonly status: number; readonly body: unknown } | null = null,
): Promise<TongueServer> {
  const asked: Asked[] = [];
  const seen: IncomingHttpHeaders[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    seen.push(incoming.headers);
    if (incoming.method === 'GET' && incoming.url === '/v1/models')
      return json(response, 200, tongue.list);
    if (incoming.url !== '/v1/chat/completions') return json(response, 404, 'not found');
    if (fails !== null) return json(response, fails.status, fails.body);
    const body = Body.parse(JSON.parse(Buffer.concat(chunks).toString()));
    asked.push(body);
    const refusal = tongue.refuses?.(body) ?? null;
    if (refusal !== null) return json(response, refusal.status, refusal.body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of answerTo(tongue, body)) {
      if (tongue.comment !== undefined) response.write(`${tongue.comment}\n\n`);
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    headers: seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function answerTo(tongue: Tongue, { messages, tools = [] }: Asked): readonly unknown[] {
  const called = messages.findLastIndex(({ tool_calls: calls }) => calls !== undefined);
  const results = messages.filter(({ role }, at) => at > called && role === 'tool');
  const canCall = tools.some(({ function: { name } }) => name === 'shell');
  if (messages.at(-1)?.role !== 'tool' && canCall) {
    return tongue.calls(
      ['echo $((6*7))', 'echo second'].map((command) => JSON.stringify({ command })),
    );
  }
  const texts = results.map(({ content }) =>
    typeof content === 'string' ? content : JSON.stringify(content),
  );
  return tongue.says(`It is ${texts.join(' and ')}, über alles 好`);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
