import { expect, test, vi } from 'vitest';
import { type AgentScript, answers, TestProject, textsOf } from '../../../testing/assistant.ts';
import { ContributionFolder } from '../../../testing/contributions.ts';
import {
  ASKS,
  context,
  familyCalls,
  guardFile,
  guardsOf,
  INSIDE,
  message,
  question,
} from '../../../testing/turn/guards.ts';
import { FAMILY, isIdle, startWithFamily } from '../../../testing/turn/tasks.ts';
import { discoverGuards } from '../../contracts/guard.ts';
import { effectOf, openGuards } from './guarded-calls.ts';

test('guards stand around a call in their order, see who calls what, and hold nothing else', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({
    'a.ts': guardFile(
      'late',
      300,
      `create: () => ({ after: (call, { ok, value }) => ({ ok, value: value + ' late' }) })`,
    ),
    'z.ts': guardFile(
      'early',
      100,
      `settings: z.object({ EARLY: z.string() }),
       create: (context) => ({
         after: (call, { ok, value }) => ({ ok, value: JSON.stringify({
           made: Object.keys(context).sort(), own: context.settings, call, value,
         }) }),
       })`,
    ),
  });
  const { guards } = await guardsOf(folder, { EARLY: 'yes', OTHER: 'secret' });
  const assistant = await familyCalls(project, { guards }, [message('hello')]);
  await isIdle(assistant);
  const [value = ''] = assistant.results.map((result) => String(result.value));
  expect(value).toMatch(/ late$/);
  expect(JSON.parse(value.replace(/ late$/, ''))).toEqual({
    made: ['dataDir', 'groupsDir', 'log', 'newId', 'now', 'settings', 'timeZone'],
    own: { EARLY: 'yes' },
    call: {
      tool: { name: 'send_message', isMainOnly: false, isTaskOnly: false },
      group: { name: 'Family', folder: 'family', isMain: false },
      isTask: false,
      runsIn: 'host',
      turn: expect.any(String),
      outside: null,
      elsewhere: null,
      input: { text: 'hello' },
    },
    value: 'Queued for Family.',
  });
  await assistant.stop();
});

test('each guard is told once what became of a call, after the owner was asked', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({
    'careful.ts': ASKS,
    'notes.ts': guardFile(
      'notes',
      100,
      `create({ log }) {
        const seen = new WeakSet();
        return {
          before(call) { seen.add(call); return { kind: 'allow' }; },
          decided(call, refusal) {
            if (call.input.text === 'break') throw new Error('the disk is full');
            log.info('decided', { isTheSame: seen.has(call), text: call.input.text, refusal });
          },
        };
      }`,
    ),
  });
  const told: unknown[] = [];
  const log = {
    ...context.log,
    info: (message: string, data?: object) => void (message === 'decided' && told.push(data)),
  };
  let time = 0;
  const own = { ...context, log, now: () => time };
  const { guards } = openGuards(await discoverGuards(folder.dir), {}, own);
  const family = await familyCalls(project, { guards }, [message('one')]);
  await question(family);
  expect(told).toEqual([]);
  await family.terminal.say('no');
  await isIdle(family);
  const reason = 'The owner did not allow this call.';
  expect(told).toEqual([{ isTheSame: true, text: 'one', refusal: reason }]);
  const tool = { name: 'look', isMainOnly: false };
  const group = { name: 'Main', folder: 'main', isMain: true };
  const refusalOf = (text: string, otherwise?: string) => {
    const call = {
      ...INSIDE,
      tool,
      group,
      isTask: false,
      runsIn: 'host' as const,
      input: { text },
    };
    return guards.refusalOf(call, async () => null, otherwise);
  };
  expect(await refusalOf('two')).toBeNull();
  expect(await refusalOf('three', 'Not here.')).toBe('Not here.');
  expect(told.slice(1)).toEqual([
    { isTheSame: true, text: 'two', refusal: null },
    { isTheSame: true, text: 'three', refusal: 'Not here.' },
  ]);
  // What cannot be noted does not run.
  const notices = () => textsOf(family.terminal).filter((text) => text.includes('guard notes'));
  for (let count = 0; count < 3; count += 1) {
    expect(await refusalOf('break')).toContain('The guard notes could not look at this call');
  }
  // The owner is told, and again after an hour.
  await vi.waitFor(() => expect(notices()).toHaveLength(1));
  expect(notices()[0]).toContain('(the disk is full)');
  time = 3_600_000;
  await refusalOf('break');
  await vi.waitFor(() => expect(notices()).toHaveLength(2));
  await family.stop();
});

test('guards that want to ask about the same call ask once, and not at all where one denies it', async () => {
  const asks = (name: string, order: number, reason: string, denied: string) =>
    guardFile(
      name,
      order,
      `create: () => ({ before: ({ input }) => input === '${denied}'
        ? { kind: 'deny', reason: 'Never.' }
        : { kind: 'ask', reason: '${reason}' } })`,
    );
  using folder = new ContributionFolder({
    'first.ts': asks('first', 100, 'It changes the device.', 'one'),
    'second.ts': asks('second', 200, 'It runs text.', 'two'),
  });
  const { guards } = await guardsOf(folder);
  const tool = { name: 'run', isMainOnly: false };
  const group = { name: 'Main', folder: 'main', isMain: true };
  const asked: string[] = [];
  const refusalOf = (input: string) =>
    guards.refusalOf(
      { ...INSIDE, tool, group, isTask: false, runsIn: 'host', input },
      async (_, reason) => {
        asked.push(reason);
        return null;
      },
    );
  expect(await refusalOf('one')).toBe('Never.');
  expect(await refusalOf('two')).toBe('Never.');
  expect(await refusalOf('three')).toBeNull();
  expect(asked).toEqual(['It changes the device. It runs text.']);
});

test('a guard that denies, breaks, or has wrong settings lets no call through', async () => {
  using folder = new ContributionFolder({
    'denies.ts': guardFile(
      'denies',
      100,
      `settings: z.object({ WORD: z.string().max(3, 'must be short').optional() }),
       create: () => ({ before: ({ input }) => {
         if (input === 'break') throw new Error('inside');
         return input === 'no' ? { kind: 'deny', reason: 'Not this.' } : { kind: 'allow' };
       } })`,
    ),
  });
  const tool = { name: 'look', isMainOnly: false };
  const group = { name: 'Family', folder: 'family', isMain: false };
  const call = (input: string) => ({
    ...INSIDE,
    tool,
    group,
    isTask: false,
    runsIn: 'host' as const,
    input,
  });
  const never = async () => 'asked';
  const { guards } = await guardsOf(folder);
  expect(await guards.refusalOf(call('yes'), never)).toBeNull();
  expect(await guards.refusalOf(call('no'), never)).toBe('Not this.');
  expect(await guards.refusalOf(call('break'), never)).toContain('The guard denies could not look');
  const wrong = await guardsOf(folder, { WORD: 'long' });
  expect(await wrong.guards.refusalOf(call('yes'), never)).toContain(
    'settings of the guard denies',
  );
  expect(wrong.silent.map(effectOf)).toEqual(['refuses every call of a host tool']);
});

test('a guard looks at those of the agent’s own tools that it names, before they run and after', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({
    'shy.ts': guardFile(
      'shy',
      200,
      `ownTools: ['shell'],
       create: () => ({
         before: ({ tool, runsIn, input }) =>
           runsIn === 'host' ? { kind: 'allow' }
           : input.command === 'rm' ? { kind: 'deny', reason: 'Not that.' }
           : input.command === 'dd' ? { kind: 'ask', reason: 'It writes to a disk.' }
           : { kind: 'allow' },
         after: ({ tool }, { ok, value }) => ({ ok, value: tool.name + ': ' + value }),
       })`,
    ),
    'broken.ts': guardFile(
      'broken',
      300,
      `ownTools: ['write_file'], settings: z.object({ DEPTH: z.coerce.number() }), create: () => ({})`,
    ),
  });
  const { guards } = await guardsOf(folder, { DEPTH: 'deep' });
  const seen: unknown[] = [];
  const agent: AgentScript = async ({ folder: name, guardedOwnTools }, { onOwnTool }) => {
    if (name !== 'family') return answers('of course');
    seen.push(guardedOwnTools);
    const check = (tool: string, input: unknown) =>
      onOwnTool?.({ folder: name, name: tool, input });
    seen.push(await check('shell', { command: 'rm' }));
    const allowed = await check('shell', { command: 'ls' });
    if (allowed?.kind !== 'allowed') throw new Error('it is not allowed');
    seen.push(await allowed.after?.({ ok: true, value: 'a b' }));
    seen.push(await check('shell', { command: 'dd' }));
    seen.push(await check('read_file', {}));
    seen.push(await check('write_file', {}));
    seen.push(await onOwnTool?.({ folder: 'main', name: 'shell', input: { command: 'ls' } }));
    return answers('done');
  };
  const assistant = await startWithFamily(project, agent, undefined, { guards });
  await assistant.chat.say('@Andy go', { jid: FAMILY, isDirect: false });
  const family = { ...assistant, results: [] };
  expect(await question(family)).toContain('wants to call `shell`. It writes to a disk.');
  await assistant.terminal.say('no');
  await isIdle(assistant);
  expect(seen).toEqual([
    expect.arrayContaining(['shell', 'write_file']),
    { kind: 'refused', reason: 'Not that.' },
    { ok: true, value: 'shell: a b' },
    { kind: 'refused', reason: 'The owner did not allow this call.' },
    { kind: 'allowed', after: null },
    { kind: 'refused', reason: expect.stringContaining('the settings of the guard broken') },
    { kind: 'refused', reason: 'This chat is not registered.' },
  ]);
  await assistant.stop();
});

test('a long result is cut for the model, and says so', async () => {
  const { guards } = openGuards(await discoverGuards(), {}, context);
  const group = { name: 'Main', folder: 'main', isMain: true };
  const tool = { name: 'look', isMainOnly: false };
  const call = { ...INSIDE, tool, group, isTask: false, runsIn: 'host' as const, input: {} };
  const long = await guards.resultOf(call, { ok: true, value: { text: 'é'.repeat(65_536) } });
  expect(long.ok).toBe(true);
  expect(long.value).toEqual({
    _truncated_json: expect.stringMatching(/^\{"text":"é+$/),
    _bytes: 2 * 65_536 + 11,
  });
  expect(Buffer.byteLength(JSON.stringify(long.value))).toBeLessThanOrEqual(65_536);
  const short = { ok: true, value: { text: 'short' } };
  expect(await guards.resultOf(call, short)).toBe(short);
});
