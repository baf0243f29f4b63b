import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { testModel } from '../../../testing/model/test-model.ts';
import { cents, DOLLAR_A_MILLION } from '../../../testing/turn/spender.ts';
import { FAMILY, isIdle, commands as says, startWithFamily } from '../../../testing/turn/tasks.ts';
import { beginRecord } from './turn-record.ts';

const NEVER = new AbortController().signal;

/** Asks the model twice, with tools of both kinds in between, and answers. */
const worker: AgentScript = async ({ folder, models: [model] }, events) => {
  const spend = async (amount: number) => {
    const admission = await events.onModelCall?.({ model, atMost: cents(amount) }, NEVER);
    if (admission?.kind === 'admitted') admission.charge(cents(amount));
  };
  await spend(2);
  await events.onTool({ folder, name: 'list_tasks', input: {} });
  await events.onTool({ folder, name: 'send_message', input: { text: '' } });
  events.onOwnToolRun?.({ kind: 'began', id: 'a', name: 'shell' });
  events.onOwnToolRun?.({ kind: 'ended', id: 'a', error: 'exit code 1' });
  events.onOwnToolRun?.({ kind: 'began', id: 'b', name: 'read_file' });
  await spend(1);
  return answers('pong');
};

test('the steps of a turn are kept with what they cost, and /cost tells of them', async () => {
  using project = new TestProject();
  const assistant = await startWithFamily(project, worker);
  const { store, terminal, chat } = assistant;
  await terminal.say('work');
  await isIdle(assistant);
  const [run] = store.turnRuns.newest(5);
  expect(run).toMatchObject({
    folder: 'main',
    chatName: 'Terminal',
    state: 'answered',
    error: null,
    model: 'anthropic/claude-sonnet-5-5',
    modelCalls: 2,
    toolCalls: 4,
    inputTokens: 30_000,
    outputTokens: 0,
    microUsd: 60_000,
    unpricedCalls: 0,
    leftOut: 0,
  });
  const steps = store.turnRuns.stepsOf(run?.seq ?? 0);
  expect(steps.map(({ kind, name, error }) => [kind, name, error])).toEqual([
    ['model', 'anthropic/claude-sonnet-5-5', null],
    ['host_tool', 'list_tasks', null],
    ['host_tool', 'send_message', expect.stringContaining('does not fit')],
    ['own_tool', 'shell', 'exit code 1'],
    ['own_tool', 'read_file', 'not ended'],
    ['model', 'anthropic/claude-sonnet-5-5', null],
  ]);
  expect(steps[0]).toMatchObject({ inputTokens: 20_000, microUsd: 40_000 });

  await chat.say('@Andy work', { jid: FAMILY, isDirect: false });
  await isIdle(assistant);
  const all = await says(assistant, '/cost');
  expect(all).toMatch(
    /The last turn here: \$0\.06, 30,000 tokens \(30,000 in, 0 out\); 2 model calls, 4 tool calls; 0\.0 s; anthropic/,
  );
  expect(all).toContain('Today: $0.12, 60,000 tokens (60,000 read, 0 read from the cache).');
  expect(all).toContain('- Family: $0.06, 30,000 tokens');
  expect(all).toContain('- Your own chats: $0.06, 30,000 tokens');
  expect(all).toContain('- claude-sonnet-5-5: $0.12, 60,000 tokens, 4 calls');

  const before = chat.sent.length;
  await chat.say('/cost', { jid: FAMILY, isDirect: false, sender: 'bob', isOwner: false });
  await isIdle(assistant);
  const [here = ''] = textsOf(chat).slice(before);
  expect(here).toContain(
    'Today in this chat: $0.06, 30,000 tokens (30,000 read, 0 read from the cache).',
  );
  expect(here).not.toContain('Your own chats');
  await assistant.stop();
});

test('a model without a price and a turn that failed are told as they are', async () => {
  using project = new TestProject();
  const agent: AgentScript = async ({ models: [model] }, events) => {
    const admission = await events.onModelCall?.({ model, atMost: cents(1) }, NEVER);
    if (admission?.kind === 'admitted') admission.charge(null);
    return { kind: 'failed', code: 'MODEL_FAILED', message: 'The model said no.' };
  };
  const assistant = await startWithFamily(project, agent);
  expect(await says(assistant, '/cost')).toContain('No turn has been recorded here yet.');
  await assistant.terminal.say('work');
  await isIdle(assistant);
  const text = await says(assistant, '/cost');
  expect(text).toContain('The last turn here, which failed (MODEL_FAILED): $0.00, 0 tokens');
  expect(assistant.store.turnRuns.newest(1)[0]).toMatchObject({ modelCalls: 1, unpricedCalls: 0 });
  // The same turn again: each run of it is kept.
  await says(assistant, '/retry');
  const runs = assistant.store.turnRuns.newest(5);
  expect(new Set(runs.map(({ turnId }) => turnId)).size).toBe(1);
  expect(runs).toHaveLength(2);
  await assistant.stop();
});

test('refusals, models that gave no answer and a clock that is set back are told as they are', async () => {
  let now = 1_000;
  const record = beginRecord('t1', () => now);
  const [first, second] = [testModel({ name: 'one' }), testModel({ name: 'two' })];
  const call = { folder: 'family', name: 'shell', input: {} };
  await record.checked(call, async () => ({ kind: 'refused', reason: 'The owner said no.' }));
  await record.checked(call, async () => ({ kind: 'allowed', after: null }));
  const admitted = async () => ({ kind: 'admitted', charge() {} }) as const;
  const asked = await record.admitted({ model: first, atMost: cents(1) }, admitted);
  now = 3_000;
  if (asked.kind === 'admitted') asked.charge(null);
  record.passedOver(first, { code: 'MODEL_FAILED', message: 'It is overloaded.' });
  now = 2_000;
  const next = await record.admitted({ model: second, atMost: cents(1) }, admitted);
  if (next.kind === 'admitted') next.charge(cents(1));
  const refused = async () => ({ kind: 'refused', message: 'used up' }) as const;
  await record.admitted({ model: second, atMost: cents(1) }, refused);
  for (let count = 0; count < 1_000; count += 1) {
    await record.called(call, async () => ({ ok: true, value: null }));
  }
  now = 500;
  const run = record.ended({ state: 'answered', error: null });
  expect(run.steps.slice(0, 4)).toMatchObject([
    { kind: 'own_tool', name: 'shell', error: 'The owner said no.' },
    { name: 'anthropic/one', error: 'It is overloaded.', durationMs: 2_000 },
    { name: 'anthropic/two', error: null, startedMs: 1_000, inputTokens: 10_000 },
    { name: 'anthropic/two', error: 'used up' },
  ]);
  expect(run).toMatchObject({
    model: 'anthropic/two',
    startedAt: 1_000,
    endedAt: 1_000,
    leftOut: 4,
  });
  expect(run.steps).toHaveLength(1_000);
});

test('a record that cannot be stored costs no answer', async () => {
  using project = new TestProject();
  const errors: string[] = [];
  const log = { info() {}, warn() {}, error: (message: string) => void errors.push(message) };
  const assistant = await project.start({
    agent: worker,
    environment: DOLLAR_A_MILLION,
    over: { log },
  });
  vi.spyOn(assistant.store.turnRuns, 'add').mockImplementation(() => {
    throw new Error('no such table: turn_runs');
  });
  await assistant.terminal.say('work');
  await isIdle(assistant);
  expect(textsOf(assistant.terminal)).toEqual(['pong']);
  expect(errors).toEqual(['the steps of a turn were not recorded']);
  await assistant.stop();
});

test('the record goes with its group, and only the newest runs are kept', async () => {
  using project = new TestProject();
  const assistant = await startWithFamily(project, worker);
  const { store, chat } = assistant;
  await chat.say('@Andy work', { jid: FAMILY, isDirect: false });
  await isIdle(assistant);
  const [first] = store.turnRuns.newest(1);
  const again = { ...first, steps: [] };
  store.transaction(() => {
    for (let count = 0; count < 10_000; count++) store.turnRuns.add(again as never);
  });
  expect(store.turnRuns.newest(20_000)).toHaveLength(10_000);
  expect(store.turnRuns.stepsOf(first?.seq ?? 0)).toEqual([]);
  store.removeGroup(FAMILY);
  expect(store.turnRuns.newest(5)).toEqual([]);
  await assistant.stop();
});
