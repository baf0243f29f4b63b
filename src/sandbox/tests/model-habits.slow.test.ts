import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import {
  type AnthropicReply,
  type AnthropicRequest,
  lastToolResults,
  lastUserText,
} from '../../testing/model/anthropic.ts';
import { startOpenAiServer } from '../../testing/model/openai.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';
import type { TurnOutcome } from '../sandbox.ts';

const says = (text: string) => [{ type: 'text' as const, text }];
const ended = (stopReason: string, text: string): AnthropicReply => ({
  kind: 'ended',
  blocks: text === '' ? [] : says(text),
  stopReason,
});

/** What the server does, by what it is asked. */
let script: (request: AnthropicRequest, call: number) => AnthropicReply = () => says('hello');
let calls = 0;

await describeWithEngine('bubblewrap', 'habits of models and of their servers', () => {
  let sandboxed: SandboxProject;
  beforeAll(async () => {
    sandboxed = await sandboxProject({
      engine: 'bubblewrap',
      tools: [
        {
          name: 'notion__create',
          description: 'Creates a page.',
          inputSchema: {
            type: 'object',
            properties: { 'filter[status]': { type: 'string' } },
            anyOf: [{ required: ['filter[status]'] }],
          },
        },
      ],
      script(request) {
        calls += 1;
        return script(request, calls);
      },
    });
  });
  afterAll(() => sandboxed[Symbol.asyncDispose]());

  async function ask(prompt: string, given: typeof script, session: string | null = null) {
    [script, calls] = [given, 0];
    const inputs: unknown[] = [];
    const deltas: string[] = [];
    const outcome = await sandboxed.turn(prompt, {
      session,
      onText: (delta) => void deltas.push(delta),
      onTool: async ({ input }) => {
        inputs.push(input);
        return { ok: true, value: 'done' };
      },
    });
    return { outcome, inputs, draft: deltas.join('') };
  }
  const textOf = (outcome: TurnOutcome) => (outcome.kind === 'answered' ? outcome.text : outcome);

  it.each([
    ['max_tokens', /^Part of the ans\n\n\(The answer was cut at the length limit.*go on/s],
    ['refusal', /^Part of the ans\n\n\(The model refused/],
    [
      'model_context_window_exceeded',
      /^Part of the ans\n\n\(The conversation is longer.*`\/reset`/s,
    ],
  ])('an answer that ends with %s says so', async (reason, shown) => {
    const { outcome } = await ask('?', () => ended(reason, 'Part of the ans'));
    expect(textOf(outcome)).toMatch(shown);
  });

  it.each([
    ['max_tokens', /reached its length limit before it said anything/],
    ['refusal', /The model refused/],
  ])('an empty answer names its reason: %s', async (reason, shown) => {
    const { outcome } = await ask('?', () => ended(reason, ''));
    expect(textOf(outcome)).toMatch(shown);
  });

  it('a model that pauses goes on by itself, and not for ever', async () => {
    const { outcome } = await ask('?', (_, call) =>
      call < 3 ? ended('pause_turn', `part ${call} `) : says('the end'),
    );
    expect(textOf(outcome)).toBe('part 1 \n\npart 2 \n\nthe end');
    const endless = await ask('?', () => ended('pause_turn', 'more'));
    expect(textOf(endless.outcome)).toMatch(/stopped before it was done/);
    expect(calls).toBe(6);
  });

  it('an answer of white space does no harm to the next turns', async () => {
    const first = await ask('?', () => says(' \n'));
    const session = first.outcome.kind === 'answered' ? first.outcome.session : null;
    const second = await ask('and now?', () => says('fine'), session);
    expect(textOf(second.outcome)).toBe('fine');
  });

  it('blank text beside a call, and a name that is none, do no harm to the same turn', async () => {
    const { outcome } = await ask('?', (request, call) =>
      call === 1
        ? [...says('\n\n'), { type: 'tool_use', name: 'functions.shell', input: {} }]
        : says(`got ${lastToolResults(request).length}`),
    );
    expect(textOf(outcome)).toBe('got 1');
  });

  it('a tool whose schema no server takes is offered in another form, and called by its own', async () => {
    const { outcome, inputs } = await ask('?', ({ sent }, call) => {
      if (call > 1) return says('made');
      const tool = sent.tools?.find(({ name }) => name === 'notion__create');
      const schema = tool?.['input_schema'] as { properties: object };
      const [name = ''] = Object.keys(schema.properties);
      return [{ type: 'tool_use', name: 'notion__create', input: { [name]: 'open' } }];
    });
    expect(textOf(outcome)).toBe('made');
    expect(inputs).toEqual([{ 'filter[status]': 'open' }]);
  });

  it('a tool that the server refuses all the same is left out, and the chat goes on', async () => {
    const { outcome } = await ask('?', ({ sent }) => {
      const at = (sent.tools ?? []).findIndex(({ name }) => name === 'notion__create');
      return at === -1
        ? says('without it')
        : { kind: 'error', status: 400, message: `tools.${at}.custom.input_schema: not for us` };
    });
    expect(textOf(outcome)).toBe('without it');
    expect(sandboxed.model.quirks.leftOutTools).toEqual([
      {
        name: 'notion__create',
        why: expect.stringMatching(
          /^the model's server refused it: tools\.\d+\.custom\.input_schema: not for us$/,
        ),
      },
    ]);
  });

  it('the limit of an answer is learnt from the server', async () => {
    const { outcome } = await ask('?', ({ body }) =>
      body.max_tokens > 8_192
        ? { kind: 'error', status: 400, message: `max_tokens: ${body.max_tokens} > 8192, the most` }
        : says(String(body.max_tokens)),
    );
    expect(textOf(outcome)).toBe('8192');
  });

  it('an answer is as long and as free as the owner has set for the chat, where the model takes that', async () => {
    let takesTemperature = true;
    const server = await startOpenAiServer(({ body: { max_tokens, temperature } }) =>
      takesTemperature || temperature === undefined
        ? `${max_tokens}, ${temperature}`
        : { status: 400, message: "Unsupported parameter: 'temperature'" },
    );
    await using other = await sandboxProject({
      engine: 'bubblewrap',
      settings: {
        modelMaxTokens: { all: null, ofFolders: { brief: 300 } },
        modelTemperature: { all: 0.3, ofFolders: { brief: 1 } },
      },
      model: testModel({ provider: 'openai', name: 'kimi', baseUrl: `${server.url}/v1` }),
    });
    const said = [await other.answer('?', { folder: 'family' })];
    said.push(await other.answer('?', { folder: 'brief' }));
    takesTemperature = false;
    said.push(await other.answer('?', { folder: 'brief' }));
    await server.close();
    expect(said).toEqual(['undefined, 0.3', '300, 1', '300, undefined']);
  });

  it('a server that is overloaded in its stream is asked again', async () => {
    const { outcome } = await ask('?', (_, call) =>
      call < 3
        ? { kind: 'error-in-stream', type: 'overloaded_error', message: 'Overloaded' }
        : says('here'),
    );
    expect(textOf(outcome)).toBe('here');
  });

  it('thoughts reach neither chat nor draft, nor the next turn', async () => {
    const said = '<think>\nThe user is annoying.\n</think>\n\nHello! `<think>` is a tag.';
    const first = await ask('?', () => says(said));
    expect(textOf(first.outcome)).toBe('Hello! `<think>` is a tag.');
    expect(first.draft).toBe('Hello! `<think>` is a tag.');
    const session = first.outcome.kind === 'answered' ? first.outcome.session : null;
    const second = await ask('?', ({ body }) => says(JSON.stringify(body.messages)), session);
    expect(textOf(second.outcome)).not.toMatch(/annoying/);
    const orphan = await ask('?', () => says('The user says hi.\n</think>\n\nHello!'));
    expect(textOf(orphan.outcome)).toBe('Hello!');
    const again = await ask('?', () => says('The user says hi.\n</think>\n\nHello!'));
    expect(again.draft).toBe('Hello!');
  });

  it('ids of another model are no obstacle, and input of tools may come as an object', async () => {
    const far = createServer(async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const isFirst = !Buffer.concat(chunks).includes('"role":"tool"');
      const call = {
        index: 0,
        id: 'functions.shell:0',
        type: 'function',
        function: { name: 'shell', arguments: { command: 'echo 42' } },
      };
      const choice = isFirst
        ? { delta: { role: 'assistant', tool_calls: [call] }, finish_reason: 'tool_calls' }
        : { delta: { content: 'It is 42' }, finish_reason: 'length' };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, ...choice }] })}\n\ndata: [DONE]\n\n`,
      );
    }).listen(0, '127.0.0.1');
    await once(far, 'listening');
    const baseUrl = `http://127.0.0.1:${(far.address() as AddressInfo).port}/v1`;
    await using other = await sandboxProject({
      engine: 'bubblewrap',
      model: testModel({ provider: 'openai', name: 'kimi', baseUrl }),
    });
    const first = await other.turn('compute');
    far.close();
    expect(textOf(first)).toMatch(/^It is 42\n\n\(The answer was cut/);
    const { requests } = other.server;
    const outcome = await other.sandbox.runTurn(
      {
        id: 'next',
        folder: 'family',
        isMain: false,
        session: first.kind === 'answered' ? first.session : null,
        models: [testModel({ baseUrl: other.server.url })],
        system: 'You are Andy.',
        prompt: 'and now?',
        tools: [],
      },
      {
        onTool: async () => ({ ok: false, value: null }),
        onModelCall: async () => ({ kind: 'admitted', charge: () => {} }),
      },
    );
    expect(textOf(outcome)).toBe('You said: and now?');
    expect(lastUserText(requests.at(-1) as AnthropicRequest)).toBe('and now?');
  });
});
