import { afterAll, beforeAll, expect, test } from 'vitest';
import { borrowed, TestProject, textsOf } from '../../../testing/assistant.ts';
import { TestClock } from '../../../testing/clock.ts';
import { describeWithEngine } from '../../../testing/engine.ts';
import {
  type AnthropicScript,
  lastToolResults,
  lastUserText,
} from '../../../testing/model/anthropic.ts';
import { startOpenAiServer } from '../../../testing/model/openai.ts';
import { type SandboxProject, sandboxProject, TEST_KEY } from '../../../testing/sandbox-project.ts';
import { FAMILY, isIdle } from '../../../testing/turn/tasks.ts';

/** Each answer of the test's server reads 100 tokens and writes 20: 20 cents at this price. */
const TWENTY_CENTS_EACH = { MODEL: 'anthropic/claude-test', MODEL_PRICE: '1000/5000' };
const PAUSED = 'I have used up what I may spend today; I’m back after midnight.';
const CLUB = 'chat:other';
const TODAY = '2026-11-21';

/** Works with the shell for as long as it is asked to, and asks the model many times at once. */
const script: AnthropicScript = (request) => {
  const said = lastUserText(request);
  const rounds = lastToolResults(request).length;
  if (said.includes('work on')) {
    return [{ type: 'tool_use', name: 'shell', input: { command: 'true' } }];
  }
  if (said.includes('all at once') && rounds === 0) {
    return [{ type: 'tool_use', name: 'shell', input: { command: MANY_CALLS } }];
  }
  return [{ type: 'text', text: rounds > 0 ? 'done' : 'pong' }];
};

/** Forty calls at the same time, past whatever the agent would do. */
const MANY_CALLS = `cat > /tmp/many.mjs <<'END'
import { request } from 'node:http';
const body = JSON.stringify({ model: 'claude-test', max_tokens: 20,
  messages: [{ role: 'user', content: 'x'.repeat(400) }] });
const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
const ask = () => new Promise((resolve) => {
  const options = { socketPath: '/run/claw/host.sock', path: '/v1/messages', method: 'POST', headers };
  request(options, (answer) => answer.resume().on('end', () => resolve(answer.statusCode)))
    .on('error', resolve).end(body);
});
const all = await Promise.all(Array.from({ length: 40 }, ask));
console.log(all.filter((status) => status === 200).length);
END
node /tmp/many.mjs`;

for (const engine of ['bubblewrap', 'docker'] as const) {
  await describeWithEngine(engine, `budgets under ${engine}`, () => {
    let sandboxed: SandboxProject;
    beforeAll(async () => {
      sandboxed = await sandboxProject({ engine, script });
    });
    afterAll(() => sandboxed[Symbol.asyncDispose]());

    test('are kept to from call to call, in each group, across a restart, until the next day', async () => {
      using project = new TestProject();
      const clock = new TestClock(`${TODAY}T12:00:00Z`);
      const first = await start(project, sandboxed, { clock });
      await Promise.all([FAMILY, CLUB].map((jid) => ask(first, 'hello', jid)));
      expect(textsOf(first.chat)).toEqual(['pong', 'pong']);
      await ask(first, 'hello');
      await ask(first, 'hello');
      await ask(first, 'hello');
      expect(first.store.usage.of('family', TODAY)).toMatchObject({
        microUsd: 800_000,
        tokens: 480,
      });
      expect(textsOf(first.terminal)).toEqual([expect.stringContaining('$0.80 of $1.00 (80%)')]);
      await first.stop();

      const second = await start(project, sandboxed, { clock });
      // The call that reaches the limit is paid, the next one of the same turn is refused.
      await ask(second, 'work on');
      expect(textsOf(second.chat)).toEqual([PAUSED]);
      expect(second.store.usage.of('family', TODAY).microUsd).toBe(1_000_000);
      const asked = sandboxed.server.requests.length;
      await ask(second, 'hello?');
      expect(sandboxed.server.requests).toHaveLength(asked);
      expect(textsOf(second.chat)).toEqual([PAUSED]);
      expect(textsOf(second.terminal)).toEqual([expect.stringContaining('$1.00 of $1.00 (100%)')]);
      await ask(second, 'hello', CLUB);
      expect(textsOf(second.chat)).toEqual([PAUSED, 'pong']);
      clock.passTo('2026-11-22T00:00:00Z');
      await ask(second, 'hello');
      // It hears of what was asked in the meantime, and does that too.
      expect(textsOf(second.chat)).toEqual([PAUSED, 'pong', 'done']);
      await second.stop();
    });

    test('are not passed by many calls at once by more than one of them', async () => {
      using project = new TestProject();
      const assistant = await start(project, sandboxed);
      await ask(assistant, 'all at once');
      const { microUsd } = assistant.store.usage.of('family', TODAY);
      expect(microUsd).toBeGreaterThanOrEqual(1_000_000);
      expect(microUsd).toBeLessThanOrEqual(1_200_000);
      expect(textsOf(assistant.chat)).toEqual([PAUSED]);
      await assistant.stop();
    });

    test('end a turn at the first refusal: an agent does not ask again', async () => {
      let calls = 0;
      const outcome = await sandboxed.sandbox.runTurn(
        {
          id: 'refused',
          folder: 'family',
          isMain: false,
          session: null,
          models: [sandboxed.model],
          system: 'You are Andy.',
          prompt: 'hello',
          tools: [],
        },
        {
          onTool: async () => ({ ok: false, value: null }),
          async onModelCall() {
            calls += 1;
            return { kind: 'refused', message: 'Nothing is left.' };
          },
        },
      );
      expect(outcome).toEqual({ kind: 'failed', code: 'BUDGET', message: 'Nothing is left.' });
      expect(calls).toBe(1);
    });
  });
}

await describeWithEngine(
  'bubblewrap',
  'a budget for a server that speaks the OpenAI protocol',
  () => {
    test('counts what it reports', async () => {
      const server = await startOpenAiServer(() => 'pong');
      await using sandboxed = await sandboxProject({ engine: 'bubblewrap' });
      using project = new TestProject();
      const environment = {
        MODEL: 'openai/test',
        OPENAI_BASE_URL: `${server.url}/v1`,
        OPENAI_API_KEY: TEST_KEY,
        BUDGET_TOKENS: '70',
      };
      const assistant = await start(project, sandboxed, { environment });
      await ask(assistant, 'hello');
      await ask(assistant, 'hello');
      await ask(assistant, 'hello');
      expect(textsOf(assistant.chat)).toEqual(['pong', 'pong', PAUSED]);
      // 30 tokens read and 5 written, twice.
      expect(assistant.store.usage.of('family', TODAY)).toEqual({
        tokens: 70,
        microUsd: 0,
        unpricedCalls: 2,
      });
      await assistant.stop();
      await server.close();
    });
  },
);

type Started = Awaited<ReturnType<typeof start>>;

async function start(
  project: TestProject,
  { sandbox, environment: model }: SandboxProject,
  {
    clock = new TestClock(`${TODAY}T12:00:00Z`),
    environment = TWENTY_CENTS_EACH as Readonly<Record<string, string>>,
  } = {},
) {
  const assistant = await project.start({
    environment: { ...model, BUDGET_USD: '1', ...environment },
    over: {
      now: clock.now,
      setTimer: clock.setTimer,
      sandbox: borrowed(sandbox),
    },
  });
  for (const [jid, folder] of [
    [FAMILY, 'family'],
    [CLUB, 'other'],
  ] as const) {
    if (assistant.store.groups.byJid(jid) !== null) continue;
    assistant.store.chats.see({ jid, channel: 'chat', name: folder, isDirect: false }, 1);
    const group = { jid, folder, name: folder, triggerWord: null, isMain: false };
    assistant.store.groups.register({ ...group, needsTrigger: false }, 1);
  }
  return assistant;
}

async function ask(assistant: Started, text: string, jid = FAMILY): Promise<void> {
  await assistant.chat.say(text, { jid, isDirect: false });
  await isIdle(assistant);
}
