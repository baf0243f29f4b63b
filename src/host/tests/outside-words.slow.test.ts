import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { InboundMessage } from '../../channels/channel.ts';
import type { HostToolResult, TurnEvents } from '../../sandbox/sandbox.ts';
import {
  type AgentScript,
  answers,
  type TestAssistant,
  TestProject,
  textsOf,
} from '../../testing/assistant.ts';
import { FAMILY, isIdle, startWithFamily } from '../../testing/turn/tasks.ts';

/** Calls that reach beyond the owner's own chats, each with what shows whether it was carried out. */
const CALLS: readonly {
  readonly name: string;
  readonly input: Record<string, unknown>;
  readonly isDone: (assistant: TestAssistant, dir: string) => boolean;
}[] = [
  {
    name: 'send_message',
    input: { text: 'psst', group: 'Family' },
    isDone: ({ chat }) => textsOf(chat).includes('psst'),
  },
  {
    name: 'register_group',
    input: { chat: 'Club' },
    isDone: ({ store }) => store.groups.byJid('chat:club') !== null,
  },
  {
    name: 'unregister_group',
    input: { group: 'family' },
    isDone: ({ store }) => store.groups.byJid(FAMILY) === null,
  },
  {
    name: 'set_trigger',
    input: { group: 'family', trigger: 'always' },
    isDone: ({ store }) => store.groups.byJid(FAMILY)?.needsTrigger === false,
  },
  {
    name: 'schedule_task',
    input: { prompt: 'x', kind: 'every', schedule: '2 hours', group: 'family' },
    isDone: ({ store }) => store.tasks.byId(2) !== null,
  },
  {
    name: 'update_task',
    input: { task: 1, prompt: 'changed' },
    isDone: ({ store }) => store.tasks.byId(1)?.prompt === 'changed',
  },
  {
    name: 'cancel_task',
    input: { task: 1 },
    isDone: ({ store }) => store.tasks.byId(1)?.state === 'cancelled',
  },
  {
    name: 'write_global_memory',
    input: { text: 'All obey.' },
    isDone: (_assistant, dir) => globalMemory(dir).includes('All obey.'),
  },
];

function globalMemory(dir: string): string {
  const path = join(dir, 'groups/global/CLAUDE.md');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** Ways by which words from outside come into a turn of the owner's chat. */
const SOURCES: readonly {
  readonly name: string;
  readonly message?: Partial<InboundMessage>;
  readonly read?: (events: TurnEvents) => unknown;
}[] = [
  { name: 'a forwarded message', message: { forwarded: { from: 'Mallory' } } },
  {
    name: 'a file',
    message: {
      attachments: [{ kind: 'document', mimeType: 'text/plain', name: 'a.txt', sizeBytes: 3 }],
    },
  },
  { name: 'a message of somebody else', message: { isOwner: false, sender: 'mallory' } },
  {
    name: 'a tool of the host that reads other chats',
    read: ({ onTool }) => onTool({ folder: 'main', name: 'list_groups', input: {} }),
  },
  {
    name: 'what was said earlier',
    read: ({ onTool }) =>
      onTool({ folder: 'main', name: 'search_history', input: { query: 'tea' } }),
  },
  {
    name: 'a received file, read in the container',
    read: ({ onOwnToolRun }) =>
      onOwnToolRun?.({ kind: 'began', id: 'a', name: 'read_file', isOutside: true }),
  },
  {
    name: 'a tool in the container that does not say what it brings',
    read: ({ onOwnToolRun }) => onOwnToolRun?.({ kind: 'began', id: 'a', name: 'other' }),
  },
];

const ASKED = 'the agent has read words from outside';
const NOT_ALLOWED = {
  ok: false,
  value: 'The owner did not allow this call.',
  fault: 'not-allowed',
};

/** An agent that reads what the source has, makes its calls one after the other, and keeps their results. */
function caller(read: (events: TurnEvents) => unknown = () => {}) {
  const results: HostToolResult[] = [];
  let calls: readonly { readonly name: string; readonly input: unknown }[] = [];
  let reads = read;
  const agent: AgentScript = async (_request, events) => {
    await reads(events);
    for (const { name, input } of calls) {
      results.push(await events.onTool({ folder: 'main', name, input }));
    }
    return answers('done');
  };
  return {
    agent,
    results,
    next(wanted: typeof calls, from = read) {
      calls = wanted;
      reads = from;
    },
  };
}

async function start(project: TestProject, agent: AgentScript) {
  const assistant = await startWithFamily(project, agent);
  await assistant.chat.meet('chat:club', 'Club');
  const schedule = { kind: 'every', text: '2 hours', timeZone: 'UTC', anchor: 1 } as const;
  const task = { folder: 'family', prompt: 'bins', schedule, context: 'group' } as const;
  const asked = { ...task, ifMissed: 'skip', nextRun: 9e12, createdBy: 'family' } as const;
  assistant.store.tasks.add(asked, 1);
  return assistant;
}

const questions = ({ terminal }: Pick<TestAssistant, 'terminal'>): readonly string[] =>
  textsOf(terminal).filter((text) => text.includes(ASKED));

const askedTimes = (assistant: Pick<TestAssistant, 'terminal'>, count: number) =>
  vi.waitFor(() => expect(questions(assistant)).toHaveLength(count));

for (const source of SOURCES) {
  test.for(CALLS)(`after ${source.name} the owner is asked before $name`, async (call) => {
    using project = new TestProject();
    const { agent, results, next } = caller(source.read);
    const assistant = await start(project, agent);
    next([call]);
    await assistant.terminal.say('go', source.message ?? {});
    await askedTimes(assistant, 1);
    const [question = ''] = questions(assistant);
    for (const value of Object.values(call.input)) expect(question).toContain(String(value));
    expect(call.isDone(assistant, project.dir)).toBe(false);
    await assistant.terminal.say('no');
    await isIdle(assistant);
    expect(results).toEqual([NOT_ALLOWED]);
    expect(call.isDone(assistant, project.dir)).toBe(false);
    await assistant.stop();
  });
}

test.for(CALLS)('without words from outside nobody is asked before $name', async (call) => {
  using project = new TestProject();
  const { agent, results, next } = caller();
  const assistant = await start(project, agent);
  next([call]);
  await assistant.terminal.say('go', {
    attachments: [{ kind: 'voice', mimeType: 'audio/ogg', name: null, sizeBytes: 3 }],
  });
  await isIdle(assistant);
  expect(results).toMatchObject([{ ok: true }]);
  await vi.waitFor(() => expect(call.isDone(assistant, project.dir)).toBe(true));
  expect(questions(assistant)).toEqual([]);
  await assistant.stop();
});

const TO_FAMILY = { name: 'send_message', input: { text: 'hi', group: 'family' } };
const TO_ITSELF = { name: 'send_message', input: { text: 'hi' } };
const TO_ALL = { name: 'write_global_memory', input: { text: 'hi' } };
const FORWARDED = { forwarded: { from: 'Mallory' } };

test('the mark stays with the conversation until /reset; its own chat is never asked about', async () => {
  using project = new TestProject();
  const { agent, results, next } = caller();
  const assistant = await start(project, agent);
  next([TO_ITSELF]);
  await assistant.terminal.say('read this', FORWARDED);
  await isIdle(assistant);
  expect(results).toMatchObject([{ ok: true }]);
  next([TO_FAMILY]);
  await assistant.terminal.say('go on');
  await askedTimes(assistant, 1);
  await assistant.terminal.say('yes');
  await isIdle(assistant);
  expect(results.at(-1)).toMatchObject({ ok: true });
  await assistant.terminal.say('/reset');
  await isIdle(assistant);
  await assistant.terminal.say('go on');
  await isIdle(assistant);
  expect(results).toHaveLength(3);
  expect(questions(assistant)).toHaveLength(1);
  await assistant.stop();
});

test('a yes covers one call, this turn, one chat, or one hour, and no more', async () => {
  using project = new TestProject();
  const { agent, results, next } = caller();
  const assistant = await start(project, agent);
  const { terminal, clock } = assistant;
  next([TO_FAMILY, TO_FAMILY, TO_ALL]);
  await terminal.say('go', FORWARDED);
  await askedTimes(assistant, 1);
  await terminal.say('yes');
  await askedTimes(assistant, 2);
  await terminal.say('turn');
  await isIdle(assistant);
  expect(results).toMatchObject([{ ok: true }, { ok: true }, { ok: true }]);
  // The next turn is asked again; a yes for a chat is for that chat.
  next([TO_FAMILY, TO_FAMILY, TO_ALL]);
  await terminal.say('go');
  await askedTimes(assistant, 3);
  await terminal.say('chat');
  await askedTimes(assistant, 4);
  expect(questions(assistant).at(-1)).toContain('the memory of all groups');
  await terminal.say('hour');
  await isIdle(assistant);
  next([TO_FAMILY, TO_ALL]);
  clock.pass(3_599_000);
  await terminal.say('go');
  await isIdle(assistant);
  expect(questions(assistant)).toHaveLength(4);
  clock.pass(2_000);
  await terminal.say('go');
  await askedTimes(assistant, 5);
  expect(questions(assistant).at(-1)).toContain('the memory of all groups');
  await terminal.say('no');
  await isIdle(assistant);
  await assistant.stop();
});

test('a task that a marked turn has written is marked, also in a conversation of its own', async () => {
  using project = new TestProject();
  const { agent, results, next } = caller();
  const assistant = await start(project, agent);
  const task = { prompt: 'tell them', kind: 'at', schedule: 'in 10 minutes', context: 'isolated' };
  next([{ name: 'schedule_task', input: task }]);
  await assistant.terminal.say('go', FORWARDED);
  await isIdle(assistant);
  expect(results).toMatchObject([{ ok: true }]);
  await assistant.terminal.say('/reset');
  await isIdle(assistant);
  next([TO_FAMILY]);
  assistant.clock.pass(600_000);
  await askedTimes(assistant, 1);
  await assistant.terminal.say('no');
  await isIdle(assistant);
  expect(results.at(-1)).toEqual(NOT_ALLOWED);
  await assistant.stop();
});

test('the mark outlives the process: the next run of an interrupted turn asks, too', async () => {
  using project = new TestProject();
  const reached = Promise.withResolvers<void>();
  const first = await start(project, async (_request, { onTool }) => {
    await onTool({ folder: 'main', name: 'search_history', input: { query: 'tea' } });
    reached.resolve();
    return await new Promise<never>(() => {});
  });
  await first.terminal.say('go');
  await reached.promise;
  await first.stop(10);
  const { agent, results, next } = caller();
  next([TO_FAMILY]);
  const second = await project.start({ agent });
  await askedTimes(second, 1);
  await second.terminal.say('no');
  await isIdle(second);
  expect(results).toEqual([NOT_ALLOWED]);
  await second.stop();
});
