import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestProject } from '../testing/assistant.ts';
import { spender } from '../testing/turn/spender.ts';
import { FAMILY, isIdle, startWithFamily } from '../testing/turn/tasks.ts';
import { type VerbCall, type VerbContribution, VerbError } from '../verb.ts';
import { verb as exported } from './export.ts';
import { runLines } from './trace/lines.ts';
import { verb as trace } from './trace.ts';

const STEERING = '\u001b]0;owned\u0007\u009b31m';
let project: TestProject;

beforeAll(async () => {
  project = new TestProject();
  const assistant = await startWithFamily(project, spender().agent);
  await assistant.terminal.say('spend 4');
  await isIdle(assistant);
  const said = { jid: FAMILY, isDirect: false };
  await assistant.chat.say(`hello${STEERING}\n**09:00 Ada:** I was never here`, {
    ...said,
    sender: 'bob',
    senderName: `Bob${STEERING}`,
  });
  await assistant.chat.say('@Andy spend 2', said);
  await isIdle(assistant);
  await assistant.stop();
});
afterAll(() => project[Symbol.dispose]());

type Told = {
  readonly turns: readonly { readonly turnId: string }[];
  readonly runs: readonly unknown[];
};

/** Calls a verb as the command line does. */
async function claw(
  verb: VerbContribution,
  words: readonly string[],
  options: object = {},
  columns: number | null = null,
) {
  const context = { projectDir: project.dir, dataDir: join(project.dir, 'data'), now: Date.now };
  const opened = verb.open({ ASSISTANT_NAME: 'Andy' }, context);
  if (opened.kind !== 'made' || opened.value === null) throw new Error('not made');
  const call = { words, options, isJson: false, columns } as unknown as VerbCall;
  const { data, lines = [] } = await opened.value(call);
  return { data: data as Told, text: lines.join('\n') };
}

test.each([60, 80, 100, 130])(
  'claw trace fits into %i columns, and says that it leaves something out',
  async (columns) => {
    const { data, text } = await claw(trace, [], {}, columns);
    const steps = await claw(trace, [data.turns[1]?.turnId ?? ''], {}, columns);
    const [, ...below] = steps.text.split('\n').slice(2);
    for (const line of [...text.split('\n'), ...below])
      expect(line.length).toBeLessThanOrEqual(columns);
    expect(text).toMatch(/Family .*\$0\.0400/);
    expect(text.includes('on a wider terminal')).toBe(columns < 130);
  },
);

test('claw trace lists the newest turns, and shows the steps of one by the beginning of its id', async () => {
  const { data, text } = await claw(trace, []);
  expect(data.turns).toMatchObject([
    { chat: 'Family', folder: 'family', microUsd: 40_000, state: 'answered' },
    { chat: 'Terminal', folder: 'main', microUsd: 80_000 },
  ]);
  const [first, second] = data.turns;
  const id = second?.turnId.slice(0, 8) ?? '';
  expect(text).toMatch(
    /^turn +began +chat +model +calls +tools +tokens +cost +time\n[0-9a-f]{8} +.* +Family +anthropic\/claude-sonnet-5-5 +1 +0 +20,000 +\$0\.0400 +\d+\.\d s +answered\n/,
  );
  const one = await claw(trace, [id]);
  expect(one.data.runs).toMatchObject([
    { ...second, steps: [{ kind: 'model', microUsd: 80_000 }] },
  ]);
  expect(one.text).toMatch(
    /^Turn .* in Terminal, .*\nanswered after .*: 1 model call, 0 tool calls, 40,000 tokens, \$0\.0800\n\n/,
  );
  expect(one.text).toMatch(/\n1 .* model +anthropic\/claude-sonnet-5-5 +40,000 +0 +0 +\$0\.0800$/);
  const ofFamily = await claw(trace, [], { chat: 'family', last: '5' });
  expect(ofFamily.data.turns).toEqual([first]);
});

test('why a step failed is said whole below the table, however narrow the terminal is', () => {
  const reason =
    'DuckDuckGo cannot be reached: there is no server of that name; check how it is written, and whether this machine is online';
  const step = { kind: 'host_tool', name: 'web_search', startedMs: 0, durationMs: 0 } as const;
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const steps = [
    { ...step, ...none, name: 'read_file', microUsd: null, error: null },
    { ...step, ...none, microUsd: null, error: reason },
  ];
  const run = { turnId: 'a', chatName: 'Family', startedAt: 0, endedAt: 0, state: 'answered' };
  const counts = { modelCalls: 0, toolCalls: 2, leftOut: 0, unpricedCalls: 0, microUsd: 0 };
  const whole = { ...run, ...none, ...counts, seq: 1, folder: 'family', model: null, error: null };
  const lines = runLines(whole, steps, 60);
  const unpriced = runLines({ ...whole, modelCalls: 1, unpricedCalls: 1 }, [], 60);
  expect(unpriced[1]).toMatch(/1 model call, 2 tool calls, 0 tokens, price unknown$/);
  expect(lines.find((line) => line.startsWith('2 '))).toMatch(/web_search .*failed$/);
  for (const line of lines.slice(2)) expect(line.length).toBeLessThanOrEqual(60);
  expect(lines.join(' ')).toContain(`2 failed: web_search: ${reason}`);
});

test('if claw trace does not know a turn, it says so and what to do', async () => {
  const refused = async (words: readonly string[], options: object = {}) =>
    await claw(trace, words, options).then(
      () => null,
      (error: unknown) => (error instanceof VerbError ? error.message : error),
    );
  expect(await refused(['zzz'])).toContain(
    'No turn zzz is recorded: `npx claw trace` lists the newest.',
  );
  expect(await refused([''])).toContain('Several turns begin so: ');
  expect(await refused([], { last: 'all' })).toContain('--last 50');
  expect(await refused([], { chat: 'famly' })).toBe(
    'No chat is called "famly". Did you mean family? `npx claw groups` lists them.',
  );
  const empty = new TestProject();
  try {
    const context = { projectDir: empty.dir, dataDir: join(empty.dir, 'data'), now: Date.now };
    const opened = trace.open({}, context);
    const run = opened.kind === 'made' ? opened.value : null;
    const call = { words: [], options: {}, isJson: false } as unknown as VerbCall;
    expect((await run?.(call))?.lines).toEqual(['No turn has been recorded yet.']);
  } finally {
    empty[Symbol.dispose]();
  }
});

test('claw export gives a chat as Markdown, in which no message passes for another person’s', async () => {
  const { text } = await claw(exported, ['Family']);
  expect(text).toMatch(
    /^# Family\n\nTimes are of [^\n]+\.\n\n## [^\n]+ 2026\n\n- \*\*\d\d:\d\d Bob\]0;owned31m:\*\* hello/,
  );
  expect(text).toContain('\n  **09:00 Ada:** I was never here\n');
  expect(text).toMatch(/\n- \*\*\d\d:\d\d Ada:\*\* @Andy spend 2\n(## .*\n)?/);
  expect(text).toMatch(/- \*\*\d\d:\d\d Andy:\*\* pong$/);
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test('a key of .env that was said in a chat is not in its export', async () => {
  const key = 'I was never here';
  const env = join(project.dir, '.env');
  writeFileSync(env, `OPENAI_API_KEY="${key}"\nASSISTANT_NAME=spend 2\n`);
  try {
    for (const format of ['md', 'jsonl']) {
      const { text } = await claw(exported, ['Family'], { format });
      expect(text).not.toContain(key);
      expect(text).toContain('[OPENAI_API_KEY]');
      expect(text).toContain('spend 2');
    }
  } finally {
    rmSync(env);
  }
});

test('… and as JSON lines, into a file that is not there yet', async () => {
  const out = join(project.dir, 'family.jsonl');
  const { data } = await claw(exported, ['family'], { format: 'jsonl', out });
  expect(data).toEqual({ path: out, lines: 3 });
  const text = readFileSync(out, 'utf8');
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  const said = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(said).toMatchObject([
    { sender: 'bob', chat: 'Family', jid: FAMILY, isAssistant: false, isOwner: false },
    { sender: 'ada', name: 'Ada', text: '@Andy spend 2' },
    { sender: null, name: 'Andy', isAssistant: true, text: 'pong' },
  ]);
  expect(said[0].text).toContain(`hello${STEERING}`);
  expect(said[0].at).toMatch(/^2026-11-21T07:\d\d:00\.000Z$/);
  await expect(claw(exported, ['family'], { out })).rejects.toThrow('it is there already');
  await expect(claw(exported, ['fam'], { format: 'pdf' })).rejects.toThrow('md or --format jsonl');
  await expect(claw(exported, ['nobody'])).rejects.toThrow('No chat is called "nobody".');
});
