import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { z } from 'zod';

const Body = z.looseObject({
  model: z.string().min(1),
  input: z.array(z.string().min(1)).min(1).max(2048),
  encoding_format: z.enum(['float', 'base64']).optional(),
});

export type EmbeddingsRequest = {
  readonly headers: IncomingHttpHeaders;
  readonly model: string;
  readonly input: readonly string[];
};

/** Returns a vector for each text, or answers in its own way. */
export type EmbeddingsScript = (
  request: EmbeddingsRequest,
  response: ServerResponse,
) => readonly (readonly number[])[] | null;

export type EmbeddingsServer = {
  /** The base address, as settings have it. */
  readonly url: string;
  readonly requests: readonly EmbeddingsRequest[];
  close(): Promise<void>;
};

/** Starts a server on loopback that speaks OpenAI's embeddings; `null` of the script leaves the answer to it. */
export async function startEmbeddingsServer(script: EmbeddingsScript): Promise<EmbeddingsServer> {
  const requests: EmbeddingsRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    if (incoming.method !== 'POST' || incoming.url !== '/v1/embeddings') {
      return send(response, 404, { error: { message: 'Unknown request URL', type: 'invalid' } });
    }
    const parsed = Body.safeParse(JSON.parse(Buffer.concat(chunks).toString()));
    if (!parsed.success) {
      return send(response, 400, { error: { message: z.prettifyError(parsed.error) } });
    }
    const { model, input } = parsed.data;
    const request = { headers: incoming.headers, model, input };
    requests.push(request);
    const vectors = script(request, response);
    if (vectors === null) return;
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
    const tokens = input.reduce((sum, text) => sum + Math.ceil(text.length / 4), 0);
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    send(response, 200, { object: 'list', data, model, usage });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Answers with a refusal in OpenAI's form. */
export function refuseEmbeddings(response: ServerResponse, status: number, message: string): null {
  send(response, status, { error: { message, type: 'invalid_request_error', code: null } });
  return null;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
