import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { listOf, startOpenAiServer } from '../../testing/model/openai.ts';
import { FAMILY, isIdle } from '../../testing/turn/tasks.ts';
import type { HostLog } from '../contracts/log.ts';

const LISTED = listOf('gpt-5', 'gpt-5-mini', { id: 'tiny', context_length: 8_000 });

test('/model lists what the servers list, with price and window, and sets one for a chat or for all', async () => {
  await using here = await started();
  expect(await here.owner('/model')).toBe(
    [
      'This chat: `openai/gpt-5`, from the settings ($1.25 read, $10 written; 400,000 tokens of context).',
      '',
      '**openai**',
      '- `openai/gpt-5`: $1.25 read, $10 written; 400,000 tokens of context',
      '- `openai/gpt-5-mini`: $0.25 read, $2 written; 400,000 tokens of context',
      '- `openai/tiny`: price not known; 8,000 tokens of context',
      '',
      'Prices are for a million tokens. Say `/model <name>` for this chat, with `for <chat>` or `for all` for others, `/model default` to go back. A part of a name searches.',
    ].join('\n'),
  );
  expect(await here.owner('/model tiny for Family')).toBe(
    'Family: `openai/tiny` (price not known; 8,000 tokens of context).',
  );
  expect(await here.owner('/model openai/gpt-5-mini for all')).toMatch(
    /^All chats: `openai\/gpt-5-mini`, chosen for all chats/,
  );
  expect(await here.modelIn(FAMILY)).toEqual(['openai/tiny', 8_000]);
  expect(await here.modelIn('terminal:main')).toEqual(['openai/gpt-5-mini', 400_000]);
  expect(await here.owner('/model')).toContain('\nFamily: `openai/tiny`\n');
  expect(await here.owner('/status')).toContain(
    '- models by `/model`: openai/tiny in Family, openai/gpt-5-mini in all other chats',
  );
  expect(await here.owner('/model default for Family')).toContain(
    'Back to the default. Family: `openai/gpt-5-mini`',
  );
  expect(await here.owner('/model default for all')).toContain('All chats: `openai/gpt-5`');
  expect(await here.modelIn(FAMILY)).toEqual(['openai/gpt-5', 400_000]);
});

test('/model without any key says how to get one, not what prices mean', async () => {
  using project = new TestProject();
  const assistant = await project.start({ environment: { ANTHROPIC_API_KEY: '' } });
  await assistant.terminal.say('/model');
  await expect.poll(() => textsOf(assistant.terminal).at(-1)).toContain('`npx claw setup`');
  expect(textsOf(assistant.terminal).at(-1)).not.toContain('Prices');
  await assistant.stop();
});

test('the owner sets it in a group as well, and it is kept across a restart with what was told of it', async () => {
  await using here = await started();
  await here.assistant().chat.say('/model tiny', { jid: FAMILY, isDirect: false, isOwner: true });
  await isIdle(here.assistant());
  expect(textsOf(here.assistant().chat).at(-1)).toMatch(/^This chat: `openai\/tiny`/);
  await here.restart();
  expect(await here.modelIn(FAMILY)).toEqual(['openai/tiny', 8_000]);
  expect(here.lists).toBe(1);
});

test('a part of a name searches; what is no model is told with the nearest', async () => {
  await using here = await started();
  expect(await here.owner('/model gpt')).toMatch(/^2 models fit “gpt”[\s\S]*`openai\/gpt-5-mini`/);
  expect(await here.owner('/model gtp-5-mini')).toContain('No model here is called gtp-5-mini.');
  expect(await here.owner('/model openai/gpt-4')).toMatch(
    /does not know "gpt-4" \(404\): no such model.*The nearest there is `openai\/gpt-5`. Nothing was changed./,
  );
  expect(await here.owner('/model openai/hidden')).toContain('does not list it, and it answers');
  expect(await here.owner('/model tiny for Nobody')).toContain('is called Nobody');
});

test('a model that is gone since it was listed is not chosen', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    await using here = await started();
    expect(await here.owner('/model')).toContain('`openai/gpt-5-mini`');
    here.far.list = listOf('gpt-5');
    vi.setSystemTime(Date.now() + 31_000);
    const gone = /not know "gpt-5-mini" \(404\).*The nearest there is `openai\/gpt-5`. Nothing/;
    expect(await here.owner('/model openai/gpt-5-mini')).toMatch(gone);
    expect(await here.owner('/model 2')).toContain('No model here is called 2.');
  } finally {
    vi.useRealTimers();
  }
});

test('a list of thousands of long names is one message of a chat', async () => {
  await using here = await started();
  here.far.list = listOf(...Array.from({ length: 5_000 }, (_, at) => `${'long-'.repeat(30)}${at}`));
  for (const asked of ['/model', '/model long']) {
    const said = await here.owner(asked);
    expect(said.length).toBeLessThan(4_000);
    expect(said).toMatch(/… and 49\d\d more/);
  }
  expect(await here.owner(`/model ${'x'.repeat(9_000)}`)).toMatch(/^No model has so long a name/);
});

test('a model that its server does not know any more is told in the chat, with its successor', async () => {
  await using here = await started(async ({ models: [model] }) => ({
    kind: 'failed',
    code: 'MODEL_FAILED',
    message: `The model's server does not know "${model.name}".`,
    reason: 'unknown-model',
    model: 'openai/gpt-4',
  }));
  await here.assistant().terminal.say('hello');
  await isIdle(here.assistant());
  expect(textsOf(here.assistant().terminal).at(-1)).toContain(
    'Its nearest successor there is `openai/gpt-5`: the owner chooses it by `/model openai/gpt-5`.',
  );
});

test('a model that is gone while another answers is one line in the log and one in the chat, until it is there again', async () => {
  const logged: string[] = [];
  let isGone = true;
  await using here = await started(
    async ({ models: [model] }, events) => {
      const message = `The model's server does not know "gpt-4" (404).`;
      const failure = { code: 'MODEL_FAILED', message, reason: 'unknown-model' } as const;
      const old = { ...model, id: 'openai/gpt-4' };
      // Each call of a turn is passed over.
      for (const _ of 'abc') {
        if (isGone) events.onModelPassedOver?.(old, failure);
        else events.onModelAnswer?.(old);
      }
      return answers('pong');
    },
    { info() {}, error() {}, warn: (message: string) => void logged.push(message) },
  );
  const line =
    'The model\'s server does not know "gpt-4" (404). Another model answers in its place. Its nearest successor there is `openai/gpt-5`: the owner chooses it by `/model openai/gpt-5`.';
  expect(await here.owner('hello')).toBe(`${line}\n\npong`);
  expect(await here.owner('hello')).toBe('pong');
  const ofModels = () => logged.filter((line) => line.startsWith('a model gave no answer'));
  expect(ofModels()).toEqual(['a model gave no answer, the next one is asked']);
  isGone = false;
  expect(await here.owner('hello')).toBe('pong');
  isGone = true;
  expect(await here.owner('hello')).toContain(line);
  expect(ofModels()).toHaveLength(2);
});

test('a chosen model that cannot be asked is said so, and no other is asked in its place', async () => {
  await using here = await started();
  here.assistant().store.modelChoices.set('main', {
    name: 'acme/gone',
    contextTokens: null,
    price: null,
  });
  await here.assistant().terminal.say('hello');
  await isIdle(here.assistant());
  expect(textsOf(here.assistant().terminal)).toEqual([
    'The model acme/gone cannot be asked: no provider here has it. `/model` chooses another. Then ask again.',
  ]);
});

async function started(agent?: AgentScript, log?: HostLog) {
  let lists = 0;
  const far = { list: LISTED };
  const server = await startOpenAiServer(
    ({ body }) => (body.model === 'hidden' ? 'ok' : { status: 404, message: 'no such model' }),
    (response, headers) => {
      lists += 1;
      far.list(response, headers);
    },
  );
  const project = new TestProject();
  let asked: readonly (string | number)[] = [];
  const begin = () =>
    project.start({
      over: { ...(log && { log }) },
      agent: async (request, events) => {
        const [{ id, contextTokens }] = request.models;
        asked = [id, contextTokens];
        return (await agent?.(request, events)) ?? answers('pong');
      },
      environment: {
        MODEL: 'openai/gpt-5',
        ANTHROPIC_API_KEY: '',
        OPENAI_API_KEY: 'k',
        OPENAI_BASE_URL: `${server.url}/v1`,
      },
    });
  let assistant = await begin();
  const chat = { jid: FAMILY, channel: 'chat', name: 'Family', isDirect: false };
  assistant.store.chats.see(chat, 1);
  assistant.store.groups.register(
    { ...chat, folder: 'family', needsTrigger: true, triggerWord: null, isMain: false },
    1,
  );
  return {
    far,
    assistant: () => assistant,
    get lists() {
      return lists;
    },
    async restart() {
      await assistant.stop();
      assistant = await begin();
    },
    async owner(text: string) {
      const { terminal } = assistant;
      const before = terminal.sent.length;
      await terminal.say(text);
      await expect.poll(() => terminal.sent.length).toBeGreaterThan(before);
      return terminal.sent.at(-1)?.text ?? '';
    },
    async modelIn(jid: string) {
      const channel = jid === FAMILY ? assistant.chat : assistant.terminal;
      await channel.say('@Andy hello', { jid, isDirect: jid !== FAMILY });
      await isIdle(assistant);
      return asked;
    },
    async [Symbol.asyncDispose]() {
      await assistant.stop();
      await server.close();
      project[Symbol.dispose]();
    },
  };
}
