import { expect, test, vi } from 'vitest';
import {
  type AgentScript,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../../../testing/assistant.ts';
import { TestClock } from '../../../testing/clock.ts';
import { killAt } from '../../../testing/kill.ts';
import { listOf, startOpenAiServer } from '../../../testing/model/openai.ts';
import { cents, DOLLAR_A_MILLION, spender } from '../../../testing/turn/spender.ts';
import { commands, FAMILY, isIdle } from '../../../testing/turn/tasks.ts';

const PAUSED = 'I have used up what I may spend today; I’m back after midnight.';
const NEAR =
  'Today’s budget of Family is nearly used up: $0.85 of $1.00 (85%). `/budget` shows all, and allows more.';
const SPENT =
  'Today’s budget of Family is used up: $1.05 of $1.00 (105%). It is answered again after midnight, or at once when you allow more: `/budget family 2 usd`.';

type Parts = {
  readonly clock?: TestClock;
  readonly environment?: Readonly<Record<string, string>>;
  readonly agent?: AgentScript;
};

/** An assistant whose groups may spend a dollar a day, and whose agent spends what it is told to. */
async function start(project: TestProject, parts: Parts = {}) {
  const { clock = new TestClock('2026-11-21T12:00:00Z'), environment } = parts;
  const { agent, prompts } = spender();
  const assistant = await project.start({
    agent: parts.agent ?? agent,
    environment: { ...DOLLAR_A_MILLION, BUDGET_USD: '1', ...environment },
    over: { now: clock.now, setTimer: clock.setTimer, timeZone: 'Europe/Berlin' },
  });
  for (const name of ['Family', 'Club']) {
    const jid = `chat:${name.toLowerCase()}`;
    assistant.store.chats.see({ jid, channel: 'chat', name, isDirect: false }, 1);
    const group = { jid, folder: name.toLowerCase(), name, triggerWord: null };
    if (assistant.store.groups.byJid(jid) === null) {
      assistant.store.groups.register({ ...group, needsTrigger: true, isMain: false }, 1);
    }
  }
  return { ...assistant, clock, prompts };
}

async function spend(assistant: TestAssistant, amount: number, jid = FAMILY): Promise<void> {
  await assistant.chat.say(`@Andy spend ${amount}`, { jid, isDirect: false });
  await isIdle(assistant);
}

test('the owner hears at 80% and at 100%, the chat gets one line, and the next day all is well', async () => {
  using project = new TestProject();
  const assistant = await start(project);
  const { chat, terminal, clock, prompts } = assistant;
  await spend(assistant, 79);
  expect(terminal.sent).toEqual([]);
  await spend(assistant, 6);
  await spend(assistant, 5);
  expect(textsOf(terminal)).toEqual([NEAR]);
  // What is under way when the limit is passed is answered: it is paid.
  await spend(assistant, 15);
  expect(textsOf(terminal)).toEqual([NEAR, SPENT]);
  expect(textsOf(chat)).toEqual(['pong', 'pong', 'pong', 'pong']);

  await spend(assistant, 1);
  await spend(assistant, 2);
  expect(textsOf(chat).slice(4)).toEqual([PAUSED]);
  expect(prompts).toHaveLength(4);
  clock.passTo('2026-11-21T22:59:59Z');
  await spend(assistant, 3);
  expect(prompts).toHaveLength(4);
  clock.passTo('2026-11-21T23:00:00Z');
  await spend(assistant, 4);
  expect(textsOf(chat).slice(5)).toEqual(['pong']);
  // What was said in the meantime is context of the first turn that can be paid.
  expect(prompts[4]).toMatch(/spend 1\n.*spend 2\n.*spend 3\n.*spend 4$/);
  expect(textsOf(terminal)).toHaveLength(2);
  await assistant.stop();
});

test('spending and its notices survive a restart', async () => {
  using project = new TestProject();
  const first = await start(project);
  await spend(first, 85);
  await first.stop();
  const second = await start(project);
  await spend(second, 20);
  await spend(second, 1);
  expect(textsOf(second.terminal)).toEqual([SPENT]);
  expect(textsOf(second.chat)).toEqual(['pong', PAUSED]);
  await second.stop();
  const third = await start(project);
  await spend(third, 1);
  expect([third.terminal.sent, third.chat.sent]).toEqual([[], []]);
  await third.stop();
});

test('a raised budget counts at once, and what it says is said anew', async () => {
  using project = new TestProject();
  const assistant = await start(project);
  await spend(assistant, 105);
  await spend(assistant, 1);
  expect(await commands(assistant, '/budget family 2 usd')).toBe(
    'Family: $1.05 of $2.00 (52%) today; may spend $2.00 a day. Say `/retry Family` for what was not answered.',
  );
  expect(await commands(assistant, '/retry Family')).toBe('Trying again in Family.');
  expect(textsOf(assistant.chat)).toEqual(['pong', PAUSED, 'pong']);
  await spend(assistant, 95);
  await spend(assistant, 1);
  expect(textsOf(assistant.chat).slice(3)).toEqual(['pong', PAUSED]);
  expect(textsOf(assistant.terminal).at(-1)).toContain('$2.01 of $2.00');
  await assistant.stop();
});

test('each group has its own budget, and `/budget` shows and sets it', async () => {
  using project = new TestProject();
  const assistant = await start(project, { environment: { BUDGET_TOTAL_USD: '20' } });
  await spend(assistant, 100);
  await spend(assistant, 60, 'chat:club');
  expect(textsOf(assistant.chat)).toEqual(['pong', 'pong']);
  expect(await commands(assistant, '/budget')).toContain(`Spent on 2026-11-21:

- Family: $1.00 of $1.00 (100%) today; may spend $1.00 a day (default).
- Club: $0.60 of $1.00 (60%) today; may spend $1.00 a day (default).
- Your own chats: $0.00 of $1.00 (0%) today; may spend $1.00 a day (default).
- all together: $1.60 of $20.00 (8%) today; may spend $20.00 a day.

Prices for a million tokens:

- \`anthropic/claude-sonnet-5-5\`: $1 read, $0 written

Say \`/budget 2 10 usd\``);
  expect(await commands(assistant, '/status')).toContain(
    '- budget: $1.60 of $20.00 (8%) today; Family $1.00 of $1.00 (100%); Club $0.60 of $1.00 (60%)',
  );
  const said = async (text: string) => commands(assistant, `/budget ${text}`);
  expect(await said('club $0.50')).toContain('Say `/budget 2 10 usd`');
  expect(await said('club $0.50 usd')).toContain('may spend $0.50 a day.');
  expect(await said('club 700,000 tokens')).toContain(
    '$0.60 of $0.50 (120%), 600,000 tokens of 700,000 tokens (85%) today; may spend $0.50 and 700,000 tokens a day.',
  );
  expect(await said('Club none')).toContain('Club: $0.60 today; has no limit.');
  expect(await said('Club default')).toContain('$1.00 a day (default)');
  expect(await said('Nobody 3 usd')).toContain('No registered chat is called Nobody');
  await assistant.stop();
});

test('two chats with two models are charged at two prices, each named with its own', async () => {
  using project = new TestProject();
  const server = await startOpenAiServer(() => 'ok', listOf('gpt-5-mini', 'gpt-5'));
  const environment = {
    MODEL: 'openai/gpt-5-mini',
    OPENAI_API_KEY: 'k',
    OPENAI_BASE_URL: `${server.url}/v1`,
  };
  const assistant = await start(project, { environment });
  expect(await commands(assistant, '/model openai/gpt-5 for family')).toContain('Family: ');
  // Half a million tokens each: at one dollar for a million, which is yours, and at 1.25.
  await spend(assistant, 50);
  await spend(assistant, 50, 'chat:club');
  const said = await commands(assistant, '/budget');
  expect(said).toContain('- Family: $0.63 of $1.00 (62%) today');
  expect(said).toContain('- Club: $0.50 of $1.00 (50%) today');
  expect(said).toContain('- all together: $1.13 today');
  expect(said).toMatch(
    /- `openai\/gpt-5-mini`: \$1 read, \$0 written\n- `openai\/gpt-5`: \$1\.25 read, \$10 written, as of \d{4}-/,
  );
  const costs = await commands(assistant, '/cost');
  expect(costs).toMatch(/- gpt-5: \$0\.63, .*\n- gpt-5-mini: \$0\.50, /);
  expect(costs).toContain('- Family: $0.63');
  await assistant.stop();
  await server.close();
});

test('a limit of tokens holds where the price is not known, and the owner is told that it is not', async () => {
  using project = new TestProject();
  const environment = { MODEL: 'openai/llama3', OPENAI_API_KEY: 'x', MODEL_PRICE: '' };
  const assistant = await start(project, {
    environment: { ...environment, BUDGET_TOKENS: '50000' },
  });
  await spend(assistant, 6);
  await spend(assistant, 1);
  expect(textsOf(assistant.chat)).toEqual(['pong', PAUSED]);
  expect(textsOf(assistant.terminal)[0]).toContain('`/budget family 100000 tokens`');
  expect(await commands(assistant, '/status')).toContain('price unknown: llama3');
  expect(await commands(assistant, '/budget')).toContain(
    '- `openai/llama3`: not known, so only tokens count; `MODEL_PRICE` in `.env` sets it',
  );
  await assistant.stop();
});

test.each([
  ['by default', {}, 201, ['pong', PAUSED]],
  ['as the owner sets it', { BUDGET_UNPRICED_TOKENS: '50000' }, 6, ['pong', PAUSED]],
  ['not where the owner wants no limit', { BUDGET_UNPRICED_TOKENS: 'none' }, 201, ['pong', 'pong']],
  ['not where money has no limit', { BUDGET_USD: 'none' }, 201, ['pong', 'pong']],
])('a model without a known price is limited in tokens: %s', async (_, limits, cents, said) => {
  using project = new TestProject();
  const environment = { MODEL: 'openai/llama3', OPENAI_API_KEY: 'x', MODEL_PRICE: '', ...limits };
  const assistant = await start(project, { environment });
  await spend(assistant, cents);
  await spend(assistant, 1);
  expect(textsOf(assistant.chat)).toEqual(said);
  const isLimited = said.includes(PAUSED);
  const shown = /may (spend|use) \S+( and)? [\d,]+ tokens a day/;
  for (const command of ['/budget', '/cost']) {
    const text = await commands(assistant, command);
    if (isLimited) expect(text).toMatch(/(2,000,000|50,000)( tokens)? a day/);
    else expect(text).not.toMatch(shown);
  }
  expect(assistant.store.budgets.of('family')).toBeNull();
  await assistant.stop();
});

test('a model with a known price is bound by money alone', async () => {
  using project = new TestProject();
  const assistant = await start(project, { environment: { BUDGET_UNPRICED_TOKENS: '10' } });
  await spend(assistant, 6);
  await spend(assistant, 6);
  expect(textsOf(assistant.chat)).toEqual(['pong', 'pong']);
  expect(await commands(assistant, '/budget')).not.toContain('tokens a day');
  await assistant.stop();
});

test('the limit of all together holds everybody, and none allows nothing', async () => {
  using project = new TestProject();
  const assistant = await start(project, { environment: { BUDGET_TOTAL_USD: '1.50' } });
  await spend(assistant, 70);
  await spend(assistant, 80, 'chat:club');
  await spend(assistant, 1);
  expect(textsOf(assistant.chat)).toEqual(['pong', 'pong', PAUSED]);
  expect(textsOf(assistant.terminal).at(-1)).toContain(
    'all chats together is used up: $1.50 of $1.50',
  );
  await assistant.stop();
  using other = new TestProject();
  const strict = await start(other, { environment: { BUDGET_USD: '0' } });
  await spend(strict, 0);
  expect(textsOf(strict.chat)).toEqual([PAUSED]);
  await strict.stop();
});

test('a task that cannot be paid is in its log, and its chat hears the one line', async () => {
  using project = new TestProject();
  const assistant = await start(project);
  const { store, clock } = assistant;
  await spend(assistant, 100);
  const schedule = { kind: 'every', text: '1h', timeZone: 'UTC', anchor: clock.now() } as const;
  const task = {
    folder: 'family',
    prompt: 'spend 1',
    schedule,
    context: 'isolated',
    ifMissed: 'run-once',
    nextRun: clock.now() + 3_600_000,
    createdBy: 'main',
  } as const;
  for (const _ of [1, 2]) store.tasks.add(task, clock.now());
  await assistant.stop();
  const again = await start(project, { clock });
  clock.pass(3_600_000);
  await vi.waitFor(() => expect(again.store.taskRuns.last(2, 1)[0]?.outcome).toBe('skipped'));
  await isIdle(again);
  expect(again.store.taskRuns.last(1, 1)[0]).toMatchObject({
    outcome: 'skipped',
    summary: 'the budget of the day was used up',
  });
  expect(textsOf(again.chat)).toEqual([PAUSED]);
  await again.stop();
});

test('calls at the same time wait for each other near the limit, and pass it by one at most', async () => {
  using project = new TestProject();
  let underWay = 0;
  let most = 0;
  const results: string[] = [];
  const agent: AgentScript = async ({ models: [model] }, { onModelCall }) => {
    const calls = Array.from({ length: 30 }, async () => {
      const admission = await onModelCall?.(
        { model, atMost: cents(30) },
        new AbortController().signal,
      );
      if (admission?.kind !== 'admitted') return results.push('refused');
      most = Math.max(most, ++underWay);
      await new Promise(setImmediate);
      underWay -= 1;
      admission.charge(cents(25));
      return results.push('paid');
    });
    await Promise.all(calls);
    return { kind: 'failed', code: 'BUDGET', message: '' };
  };
  const assistant = await start(project, { agent });
  await spend(assistant, 1);
  // Four may be under way: three could leave something of the dollar, so a fourth may begin.
  expect(most).toBe(4);
  expect(results.filter((result) => result === 'paid')).toHaveLength(4);
  expect(results).toHaveLength(30);
  expect(assistant.store.usage.of('family', '2026-11-21').microUsd).toBe(1_000_000);
  await assistant.stop();
});

test('a kill in the middle of a call loses that call alone', async () => {
  using project = new TestProject();
  const first = await start(project);
  await spend(first, 40);
  await first.stop();
  await killAt(
    project,
    `const assistant = await startAssistant(dir, {
       environment: { MODEL_PRICE: '1/0', BUDGET_USD: '1' },
       over: { now: () => Date.parse('2026-11-21T12:00:00Z') },
       agent: async ({ models: [model] }, { onModelCall }) => {
         const tokens = (inputTokens) => ({ inputTokens, cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 0 });
         const paid = await onModelCall({ model, atMost: tokens(70_000) }, new AbortController().signal);
         paid.charge(tokens(70_000));
         await onModelCall({ model, atMost: tokens(500_000) }, new AbortController().signal);
         halt();
       },
     });
     await assistant.chat.say('@Andy hi', { jid: 'chat:family', isDirect: false });`,
  );
  const { agent } = spender();
  const over = { now: () => Date.parse('2026-11-21T12:00:00Z') };
  const second = await project.start({ agent, over, environment: DOLLAR_A_MILLION });
  await isIdle(second);
  expect(second.store.usage.of('family', '2026-11-21').microUsd).toBe(470_000);
  expect(textsOf(second.chat)).toEqual(['pong']);
  await second.stop();
});
