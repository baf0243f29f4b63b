import { expect, test } from 'vitest';
import type { Candidates, SideWork } from '../../model/candidates.ts';
import type { Model } from '../../model/model.ts';
import { describeWithEngine } from '../../testing/engine.ts';
import {
  type AnthropicReply,
  type AnthropicRequest,
  startAnthropicServer,
} from '../../testing/model/anthropic.ts';
import { type OpenAiRequest, startOpenAiServer } from '../../testing/model/openai.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';

await describeWithEngine('bubblewrap', 'a turn whose models speak different protocols', () => {
  test('falls through from one to the other and back, before the first byte', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    await using down = await anthropic({ kind: 'error', status: 500 });
    await using broken = await openAi(() => ({ status: 503, message: 'later' }));
    await using last = await anthropic([{ type: 'text', text: 'hello from the last' }]);
    const models: Candidates = [
      testModel({ name: 'a', baseUrl: down.url }),
      testModel({ name: 'b', baseUrl: down.url }),
      testModel({ provider: 'openai', name: 'c', baseUrl: `${broken.url}/v1` }),
      testModel({ name: 'd', baseUrl: last.url }),
    ];
    const passedOver: string[] = [];
    const answered: string[] = [];
    const outcome = await run(project, { models, passedOver, answered });
    expect(outcome).toMatchObject({ kind: 'answered', text: 'hello from the last' });
    expect(passedOver).toEqual(['anthropic/a', 'anthropic/b', 'openai/c']);
    expect(answered).toEqual(['anthropic/d']);
    expect(broken.requests[0]?.body).toMatchObject({ model: 'c', stream: true });
  });

  test('ends with the words of the last where none answers', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    await using down = await anthropic({ kind: 'error', status: 529 });
    await using broken = await openAi(() => ({ status: 401, message: 'no' }));
    const models: Candidates = [
      testModel({ baseUrl: down.url }),
      testModel({ provider: 'openai', baseUrl: `${broken.url}/v1` }),
    ];
    expect(await run(project, { models })).toMatchObject({
      kind: 'failed',
      reason: 'key',
      message: expect.stringContaining('refused the API key'),
    });
  });

  test('after the first byte asks no other', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    await using first = await anthropic({
      kind: 'drop',
      blocks: [{ type: 'text', text: 'half of it, and then nothing more' }],
    });
    await using other = await openAi(() => 'never');
    const models: Candidates = [
      testModel({ baseUrl: first.url }),
      testModel({ provider: 'openai', baseUrl: `${other.url}/v1` }),
    ];
    expect(await run(project, { models })).toMatchObject({ kind: 'failed' });
    expect(other.requests).toEqual([]);
  });

  test('is asked in words alone where a model may call no tools, with the calls before as text', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    let asked = 0;
    await using first = await anthropic(() => {
      asked += 1;
      const calls = [{ type: 'tool_use', name: 'shell', input: { command: 'echo 42' } }] as const;
      return asked === 1 ? calls : { kind: 'error', status: 500 };
    });
    await using other = await openAi(() => 'words alone');
    const plain = testModel({ provider: 'openai', baseUrl: `${other.url}/v1` });
    const models: Candidates = [testModel({ baseUrl: first.url }), textOnly(plain)];
    expect(await run(project, { models })).toMatchObject({ kind: 'answered', text: 'words alone' });
    const body = other.requests[0]?.body;
    expect(body).not.toHaveProperty('tools');
    expect(JSON.stringify(body?.messages)).toContain('A tool gave: 42');
    expect(body?.messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  });

  test('asks the models of a summary for summaries, in their own protocol', async () => {
    await using project = await sandboxProject({ engine: 'bubblewrap' });
    await using main = await anthropic(({ body }) => ({
      kind: 'counted',
      blocks: [{ type: 'text', text: `answer ${'x'.repeat(2_000)}` }],
      inputTokens: Math.ceil(JSON.stringify(body).length / 4),
    }));
    await using cheap = await openAi(() => 'They talked.');
    const models: Candidates = [{ ...testModel({ baseUrl: main.url }), contextTokens: 20_000 }];
    const summary: Candidates = [
      testModel({ provider: 'openai', name: 'cheap', baseUrl: `${cheap.url}/v1` }),
    ];
    let session: string | null = null;
    for (let count = 0; count < 20 && cheap.requests.length === 0; count += 1) {
      const outcome = await run(project, {
        models,
        sideModels: { summary },
        session,
        prompt: `number ${count} ${'y'.repeat(2_000)}`,
      });
      if (outcome.kind === 'failed') throw new Error(outcome.message);
      session = outcome.session;
    }
    expect(cheap.requests[0]?.body.model).toBe('cheap');
    expect(JSON.stringify(cheap.requests[0]?.body)).toContain('You keep the memory');
    expect(JSON.stringify(main.requests.at(-1)?.body)).toContain('They talked.');
  });
});

function textOnly(model: Model): Model {
  return { ...model, abilities: { ...model.abilities, tools: false } };
}

let turns = 0;

function run(
  project: SandboxProject,
  parts: {
    readonly models: Candidates;
    readonly sideModels?: Partial<Record<SideWork, Candidates>>;
    readonly session?: string | null;
    readonly prompt?: string;
    readonly passedOver?: string[];
    readonly answered?: string[];
  },
) {
  turns += 1;
  const { models, sideModels, session = null, prompt = 'hello', passedOver, answered } = parts;
  return project.sandbox.runTurn(
    {
      id: `mixed-${turns}`,
      folder: 'family',
      isMain: false,
      session,
      models,
      sideModels,
      system: 'You are Andy.',
      prompt,
      tools: [],
    },
    {
      onTool: async () => ({ ok: false, value: 'none' }),
      onModelPassedOver: ({ id }) => void passedOver?.push(id),
      onModelAnswer: ({ id }) => void answered?.push(id),
    },
  );
}

async function anthropic(reply: AnthropicReply | ((asked: AnthropicRequest) => AnthropicReply)) {
  const server = await startAnthropicServer((asked) =>
    typeof reply === 'function' ? reply(asked) : reply,
  );
  return { ...server, [Symbol.asyncDispose]: server.close };
}

async function openAi(
  script: (request: OpenAiRequest) => ReturnType<Parameters<typeof startOpenAiServer>[0]>,
) {
  const server = await startOpenAiServer(script);
  return { ...server, [Symbol.asyncDispose]: server.close };
}
