import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import { examination } from '../../../src/doctor/pipeline.ts';
import { openReadOnly } from '../../../src/store/open-read-only.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
} from '../../../src/testing/assistant.ts';
import { TestClock } from '../../../src/testing/clock.ts';
import { cents } from '../../../src/testing/turn/spender.ts';
import { commands, isIdle } from '../../../src/testing/turn/tasks.ts';

const SMART = 'openai/gpt-5';
const CHEAP = 'openai/gpt-5-mini';
const POOLS = { MODEL_POOLS: `smart=${SMART}, ${CHEAP}`, OPENAI_API_KEY: 'o' };
const DAY = 86_400_000;

/** Reads the pipeline's newest decision as it lies on the disk. */
function newestTurn(project: TestProject): unknown {
  const database = openReadOnly(join(project.dir, 'data/databases/service-pipeline.db'));
  try {
    return database
      .prepare('SELECT * FROM turns ORDER BY decided_at DESC, rowid DESC LIMIT 1')
      .get();
  } finally {
    database.close();
  }
}

/** Starts an assistant on the test's clock, whose agent reads 100,000 tokens with the first of its models. */
async function startOn(
  project: TestProject,
  environment: Readonly<Record<string, string>> = {},
  clock = new TestClock('2026-11-21T12:00:00Z'),
  isUsable = true,
  work: (events: Parameters<AgentScript>[1]) => Promise<void> = async () => {},
) {
  const asked: string[] = [];
  const agent: AgentScript = async ({ models: [model] }, events) => {
    const { onModelCall } = events;
    asked.push(model.id);
    await work(events);
    const tokens = cents(10);
    const call = { model, atMost: tokens };
    const admission = await onModelCall?.(call, new AbortController().signal);
    if (admission?.kind === 'admitted') admission.charge(tokens);
    return answers(`from ${model.id}`);
  };
  const warned: string[] = [];
  const log = { info() {}, error() {}, warn: (text: string) => void warned.push(text) };
  const over = { now: clock.now, setTimer: clock.setTimer, log };
  const capabilities = { reactions: true } as const;
  const all = { ...POOLS, SESSION_EXPIRY_HOURS: '0', ...environment };
  const assistant = await project.start({ agent, over, capabilities, environment: all });
  if (isUsable) {
    await vi.waitFor(() => {
      const states = assistant.store.services.all();
      expect(states).toContainEqual(
        expect.objectContaining({ name: 'pipeline', state: 'running' }),
      );
    });
  }
  return { ...assistant, asked, warned, clock };
}

/** Says something, and returns the host's id of the answer. */
async function answerTo({ terminal, ...rest }: TestAssistant, text: string): Promise<string> {
  await terminal.say(text);
  await isIdle({ terminal, ...rest });
  return terminal.sent.at(-1)?.id ?? '';
}

const on = (messageId: string, emoji: string | null, sender = 'ada') => ({
  jid: 'terminal:main',
  sender,
  isOwner: sender === 'ada',
  messageId,
  emoji,
});

test('the shape of an answer is checked, from what the assistant has recorded', async () => {
  using project = new TestProject();
  const assistant = await startOn(project);
  for (const [text, fits] of [
    ['Answer in JSON: who are you?', 0],
    ['In at most 20 words: who are you?', 1],
    ['who are you?', null],
  ] as const) {
    await answerTo(assistant, text);
    await commands(assistant, '/pipeline');
    const kept = { fits_shape: fits, tool_calls: 0, state: 'answered' };
    expect(newestTurn(project), text).toMatchObject(kept);
    assistant.clock.pass(60_000);
  }
  expect(await commands(assistant, '/pipeline')).toMatch(
    /not rated, shape and tools right in \d+ % of/,
  );
  await assistant.stop();
});

test('calls of tools that failed are counted', async () => {
  using project = new TestProject();
  const assistant = await startOn(project, {}, undefined, true, async ({ onTool }) => {
    await onTool({ folder: 'main', name: 'list_tasks', input: {} });
    await onTool({ folder: 'main', name: 'pause_task', input: { task: 99 } });
  });
  await answerTo(assistant, 'hello');
  await commands(assistant, '/pipeline');
  expect(newestTurn(project)).toMatchObject({ tool_calls: 2, tool_failures: 1, fits_shape: null });
  await assistant.stop();
});

/** Has the first of the pool rated bad and the second good, until only the second is chosen. */
async function teach(assistant: Awaited<ReturnType<typeof startOn>>): Promise<void> {
  for (let at = 0; at < 24; at += 1) {
    const id = await answerTo(assistant, `hello ${at}`);
    await assistant.terminal.react(on(id, assistant.asked.at(-1) === CHEAP ? '👍' : '👎'));
    assistant.clock.pass(1_000);
  }
}

test('reactions teach which model of the pool is worth it, and a restart keeps that', async () => {
  using project = new TestProject();
  const assistant = await startOn(project);
  await answerTo(assistant, 'hello');
  expect(await commands(assistant, '/pipeline')).toMatch(
    /not rated, \$0\.1250 a turn, 1 turn.*taken for Chat, complexity 0\.\d+\. `openai\/gpt-5` answered\. No Chat answer has been rated yet, so the pool's order holds/s,
  );
  await teach(assistant);
  expect(assistant.asked.slice(0, 2)).toEqual([SMART, SMART]);
  expect(assistant.asked.slice(-5)).toEqual(Array(5).fill(CHEAP));
  const said = await commands(assistant, '/pipeline');
  expect(said).toMatch(
    /Learned from 24 ratings of the last 180 days\. A good answer counts \$0\.50/,
  );
  expect(said).toMatch(
    /\*\*Chat\*\*\n(.*\n)?- `openai\/gpt-5-mini`: (\d+) of \2 good, \$0\.0250 a turn/,
  );
  expect(said).toMatch(/`openai\/gpt-5-mini` answered\. A good answer counts .*drew 0\.\d\d/);
  // Of other work nothing is known yet.
  await answerTo(assistant, 'Write a poem about the sea');
  expect(assistant.asked.at(-1)).toBe(SMART);
  await assistant.stop();

  const again = await startOn(project, {}, assistant.clock);
  await answerTo(again, 'hello again');
  expect(again.asked).toEqual([CHEAP]);
  await again.stop();
  const database = openReadOnly(join(project.dir, 'data/databases/service-pipeline.db'));
  const kept = JSON.stringify(database.prepare('SELECT * FROM turns').all());
  database.close();
  expect(kept).not.toContain('sea');
});

test('`/good` and `/bad` rate the last answer, a later word counts, and a reaction can be taken back', async () => {
  using project = new TestProject();
  const assistant = await startOn(project);
  expect(await commands(assistant, '/good')).toBe(
    'There is no answer here yet that could be rated.',
  );
  const id = await answerTo(assistant, 'hello');
  expect(await commands(assistant, '/good')).toBe('Noted: a good Chat answer of `openai/gpt-5`.');
  expect(await commands(assistant, '/pipeline')).toContain('`openai/gpt-5`: 1 of 1 good');
  expect(await commands(assistant, '/bad')).toBe('Noted: a bad Chat answer of `openai/gpt-5`.');
  expect(await commands(assistant, '/pipeline')).toContain('`openai/gpt-5`: 0 of 1 good');
  await assistant.terminal.react(on(id, '👍'));
  await assistant.terminal.react(on(id, '👎', 'bob'));
  expect(await commands(assistant, '/pipeline')).toContain('`openai/gpt-5`: 0.5 of 1 good');
  await assistant.terminal.react(on(id, '🤔'));
  await assistant.terminal.react(on(id, null, 'bob'));
  expect(await commands(assistant, '/pipeline')).toContain('`openai/gpt-5`: not rated');
  expect(await commands(assistant, '/good please')).toMatch(/takes no/);
  await assistant.stop();
});

test('what was put while the assistant did not run counts, and only the owner’s where that is set', async () => {
  using project = new TestProject();
  const owners = { PIPELINE_RATERS: 'owner' };
  const first = await startOn(project, owners);
  const id = await answerTo(first, 'hello');
  await first.terminal.react(on(id, '👎', 'bob'));
  expect(await commands(first, '/pipeline')).toContain('not rated');
  first.clock.pass(1_000);
  const { clock } = first;
  await first.stop();
  // The service is away, as while its settings are wrong.
  const away = await startOn(project, { PIPELINE_LEARNING: 'perhaps' }, clock, false);
  clock.pass(1_000);
  await away.terminal.react(on(id, '👍'));
  await away.stop();
  const again = await startOn(project, owners, clock);
  expect(await commands(again, '/pipeline')).toContain('`openai/gpt-5`: 1 of 1 good');
  await again.stop();
});

test('a model of `/model` stays first, and is learned from', async () => {
  using project = new TestProject();
  const assistant = await startOn(project);
  await teach(assistant);
  assistant.store.modelChoices.set('main', { name: SMART, contextTokens: 9_000, price: null });
  await answerTo(assistant, 'hello');
  expect(assistant.asked.at(-1)).toBe(SMART);
  expect(await commands(assistant, '/pipeline')).toContain('It was chosen by `/model`.');
  await assistant.stop();
});

test('with learning off the order of the pool holds and nothing is kept', async () => {
  using project = new TestProject();
  const assistant = await startOn(project);
  await teach(assistant);
  await assistant.stop();
  const off = await startOn(project, { PIPELINE_LEARNING: 'off' }, assistant.clock);
  const id = await answerTo(off, 'hello');
  expect(off.asked).toEqual([SMART]);
  await off.terminal.react(on(id, '👍'));
  expect(await commands(off, '/good')).toMatch(/^Learning is off/);
  expect(await commands(off, '/pipeline')).toMatch(/^Learning is off .* nothing is kept\./);
  await off.stop();
});

test('a setting that cannot be used leaves the order of the pool, and the log says so', async () => {
  using project = new TestProject();
  const assistant = await startOn(project, { PIPELINE_ANSWER_USD: 'much' }, undefined, false);
  await answerTo(assistant, 'hello');
  expect(assistant.asked).toEqual([SMART]);
  expect(assistant.warned).toContain('the pipeline was not asked, the order of the pool holds');
  expect(await commands(assistant, '/good')).toContain('There is no service pipeline');
  await assistant.stop();
});

test('what is older than 180 days is forgotten', async () => {
  using project = new TestProject();
  const assistant = await startOn(project);
  await teach(assistant);
  await assistant.stop();
  const later = new TestClock(new Date(assistant.clock.now() + 181 * DAY).toISOString());
  const again = await startOn(project, {}, later);
  expect(await commands(again, '/pipeline')).toContain('No turn has been counted yet.');
  await answerTo(again, 'hello');
  expect(again.asked).toEqual([SMART]);
  await again.stop();
});

test('a turn that was written by another version is left out, told once, and the others count', async () => {
  using project = new TestProject();
  const assistant = await startOn(project);
  await teach(assistant);
  await assistant.stop();
  const database = new Database(join(project.dir, 'data/databases/service-pipeline.db'));
  database.exec(`
    UPDATE signals SET value = 9e999 WHERE turn = (SELECT min(turn) FROM signals);
    UPDATE turns SET complexity = -4 WHERE id = (SELECT max(id) FROM turns);
    INSERT INTO turns (id, jid, is_task, type, complexity, why, decided_at, model, micro_usd, state)
      SELECT 'odd', jid, is_task, 'Poetry', complexity, why, decided_at + 1, model, micro_usd, 'odd'
      FROM turns LIMIT 1`);
  database.close();
  const again = await startOn(project, {}, assistant.clock);
  await answerTo(again, 'hello');
  // Which turns these were, and how many went to which model, is by chance.
  expect(await commands(again, '/pipeline')).toMatch(/`openai\/gpt-5-mini`: (\d+) of \1 good/);
  const told = again.warned.filter((text) => text.includes('cannot be read'));
  expect(told).toEqual(['turns that cannot be read are not learned from']);
  await again.stop();
});

test('the doctor says what there is to choose among and to learn from', async () => {
  using project = new TestProject();
  const look = (environment: Readonly<Record<string, string>>) =>
    examination.examine({
      projectDir: project.dir,
      dataDir: join(project.dir, 'data'),
      homeDir: '/nowhere',
      environment,
      settings: readSettings({}, project.dir),
      isOffline: true,
      now: () => 0,
    });
  const says = (message: string) => [{ ok: true, message }];
  expect(await look({})).toMatchObject(
    says('no pool has two models, so there is nothing to choose'),
  );
  expect(await look(POOLS)).toMatchObject(says('nothing is learned yet'));
  expect(await look({ ...POOLS, PIPELINE_LEARNING: 'off' })).toMatchObject(
    says('learning is off, the order of the pools holds'),
  );
  const assistant = await startOn(project);
  await answerTo(assistant, 'hello');
  await commands(assistant, '/good');
  await assistant.stop();
  expect(await look(POOLS)).toMatchObject(says('it has learned from 1 rating of 1 turn'));
});
