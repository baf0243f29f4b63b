import { expect, test, vi } from 'vitest';
import { createSignal } from '../../lib/signal.ts';
import { type AgentScript, answers, TestProject, textsOf } from '../../testing/assistant.ts';
import { reset, seen, serviceFile, servicesOf } from '../../testing/claw/service-files.ts';
import { FAMILY, isIdle, startWithFamily } from '../../testing/turn/tasks.ts';
import type { LiveEvent } from '../contracts/live-event.ts';
import type { HostOptions } from '../contracts/options.ts';

const WATCHER = serviceFile(
  'watcher',
  `start(context) {
    globalThis.serviceTest.contexts.push(context);
    return { stop() {}, status: () => null };
  }`,
);

async function watched(project: TestProject, agent: AgentScript, over = {}) {
  reset();
  const { services } = await servicesOf({ 'watcher.ts': WATCHER });
  const assistant = await startWithFamily(project, agent, undefined, { services, ...over });
  const context = seen.contexts.at(-1);
  if (context === undefined) throw new Error('The service did not start.');
  const events: LiveEvent[] = [];
  const end = context.watch((event) => void events.push(event));
  return { ...assistant, assistant, context, events, end };
}

const kinds = (events: readonly LiveEvent[]) => events.map(({ kind }) => kind);

test('a service watches a turn from its beginning to its end, and joins one that runs', async () => {
  using project = new TestProject();
  const go = Promise.withResolvers<void>();
  const { assistant, context, events, terminal } = await watched(project, async (_, live) => {
    live.onText?.('Hel');
    await live.onTool({ folder: 'main', name: 'list_tasks', input: {} });
    await go.promise;
    live.onText?.('lo');
    return answers('Hello');
  });
  await terminal.say('hi', { id: 'm1' });
  await vi.waitFor(() => expect(kinds(events)).toContain('delta'));
  const late: LiveEvent[] = [];
  context.watch((event) => void late.push(event));
  expect(late.slice(0, 2)).toMatchObject([
    { kind: 'began', work: 'agent', folder: 'main', title: null, answersTo: ['m1'] },
    { kind: 'delta', text: 'Hel' },
  ]);
  go.resolve();
  await isIdle(assistant);
  const turn = events.filter((event) => 'turn' in event);
  expect(turn.map((event) => ('line' in event ? event.line : event.kind))).toEqual([
    'began',
    'waiting for tools',
    'waiting for tools',
    'delta',
    'using list tasks',
    'using list tasks',
    'delta',
    'ended',
  ]);
  expect(turn.at(-1)).toMatchObject({ state: 'answered', error: null });
  expect(late.at(-1)).toMatchObject({ kind: 'chat', jid: 'terminal:main' });
  await assistant.stop();
});

test('the owner speaks, commands and answers from elsewhere, with the rights of the chat and no other', async () => {
  using project = new TestProject();
  const asked: string[] = [];
  const { assistant, context, events, terminal, chat, store } = await watched(
    project,
    async ({ prompt }) => {
      asked.push(prompt);
      return answers('pong');
    },
  );
  const id = await context.owner.say(FAMILY, 'what is for dinner?');
  await isIdle(assistant);
  expect(asked.join('\n')).toContain('what is for dinner?');
  expect(textsOf(chat)).toEqual(['pong']);
  expect(chat.sent[0]).not.toHaveProperty('replyTo');
  expect(events.find(({ kind }) => kind === 'began')).toMatchObject({ answersTo: [id] });

  await context.owner.say('terminal:main', '/unregister Family delete');
  await vi.waitFor(() => expect(kinds(events)).toContain('asked'));
  const [question, ...others] = context.owner.questions('terminal:main');
  expect(others).toEqual([]);
  expect(question).toMatchObject({ jid: 'terminal:main', isForOwner: true });
  if (question === undefined) throw new Error('Nothing is asked.');
  expect(await context.owner.answer(question, 'maybe')).toBe('closed');
  expect(store.groups.byJid(FAMILY)).not.toBeNull();
  const word = question.options.at(0)?.word ?? 'yes';
  expect(await context.owner.answer(question, word)).toBe('noted');
  await isIdle(assistant);
  expect(store.groups.byJid(FAMILY)).toBeNull();
  expect(await context.owner.answer(question, word)).toBe('closed');
  expect(context.owner.questions('terminal:main')).toEqual([]);
  await expect(context.owner.say(FAMILY, 'hi')).rejects.toThrow(/No registered chat/);
  await expect(context.owner.say('nowhere:1', 'hi')).rejects.toThrow(/No registered chat/);
  expect(textsOf(terminal).length).toBeGreaterThan(0);
  await assistant.stop();
});

test('a listener that throws is not called again, and the turn goes on', async () => {
  using project = new TestProject();
  const errors: string[] = [];
  const log = { info() {}, warn() {}, error: (message: string) => void errors.push(message) };
  const lines = createSignal<string>();
  const { assistant, context, events, end, terminal } = await watched(
    project,
    async () => answers('pong'),
    { log, logLines: lines },
  );
  const broken = vi.fn(() => {
    throw new Error('no');
  });
  context.watch(broken);
  lines.emit('{"msg":"one"}');
  expect(events).toEqual([{ kind: 'log', line: '{"msg":"one"}' }]);
  await terminal.say('hi');
  await isIdle(assistant);
  expect(broken).toHaveBeenCalledTimes(1);
  expect(errors).toEqual(['a service broke on what it watches']);
  expect(textsOf(terminal)).toContain('pong');
  end();
  const count = events.length;
  lines.emit('two');
  expect(events).toHaveLength(count);
  await assistant.stop();
});

test('a change of the code is watched with what its tests print, and joined without that', async () => {
  using project = new TestProject();
  const go = Promise.withResolvers<void>();
  const printed = { kind: 'output', text: 'test: dice', output: 'ok 1\n' } as const;
  const claw: HostOptions['claw'] = async (_args, onProgress) => {
    const parts = { data: null, changes: [], conflicts: [], warnings: [], error: null };
    const result = { ok: true, outcome: 'nothing', exitCode: 0, ...parts } as const;
    // What only looks says nothing of how it goes on.
    if (onProgress === undefined) return result;
    onProgress({ kind: 'started', text: 'test: dice' });
    onProgress(printed);
    await go.promise;
    onProgress({ kind: 'ended', text: 'test: dice', outcome: 'failed' });
    return result;
  };
  const { assistant, context, events, terminal } = await watched(project, async () => answers(''), {
    claw,
  });
  await terminal.say('/remove-dice');
  await vi.waitFor(() => expect(kinds(events)).toContain('progress'));
  const late: LiveEvent[] = [];
  context.watch((event) => void late.push(event));
  expect(late).toMatchObject([
    { kind: 'began', work: 'command' },
    { kind: 'progress', progress: { kind: 'started', text: 'test: dice' } },
  ]);
  go.resolve();
  await isIdle(assistant);
  const told = events.flatMap((event) => (event.kind === 'progress' ? [event.progress] : []));
  expect(told).toContainEqual(printed);
  expect(told.at(-1)).toMatchObject({ kind: 'ended', outcome: 'failed' });
});
