import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type ModelMessage = {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
};
export type ModelRequest = {
  readonly model: string;
  readonly max_tokens: number;
  readonly temperature: number;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly { readonly function: { readonly name: string } }[];
};
type Answer =
  | string
  | { readonly tool: string; readonly arguments: unknown }
  | ((request: IncomingMessage, response: ServerResponse) => void);

/** An OpenAI-compatible server that says what the test tells it to, one answer after the other. */
export class ModelServer implements AsyncDisposable {
  readonly requests: ModelRequest[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  readonly #answers: Answer[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(...answers: readonly Answer[]): Promise<ModelServer> {
    const server = new ModelServer();
    server.#answers.push(...answers);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Settings of a board that asks this model. */
  get provider(): object {
    return { api_base: `${this.url}/v1`, api_key: 'sk-board' };
  }

  answer(...answers: readonly Answer[]): void {
    this.#answers.push(...answers);
  }

  /** The text of the last result of a tool that the model was shown. */
  get lastResult(): string {
    return this.requests.at(-1)?.messages.findLast(({ role }) => role === 'tool')?.content ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.headers.push(request.headers);
    const body = await text(request);
    if (request.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    this.requests.push(JSON.parse(body));
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    if (typeof answer === 'function') answer(request, response);
    else response.end(JSON.stringify(completion(answer ?? 'Done.', this.requests.length)));
  }
}

/** The body of a completion. */
export function completion(answer: Exclude<Answer, (...all: never[]) => void>, count = 0): object {
  if (typeof answer === 'string') {
    return { choices: [{ message: { content: answer }, finish_reason: 'stop' }], usage: {} };
  }
  const call = { name: answer.tool, arguments: JSON.stringify(answer.arguments) };
  const tool_calls = [{ id: `call_${count}`, type: 'function', function: call }];
  return { choices: [{ message: { content: null, tool_calls }, finish_reason: 'tool_calls' }] };
}
