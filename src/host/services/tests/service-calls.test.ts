import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { Program } from '../../../lib/program.ts';
import {
  type AgentScript,
  answers,
  startAssistant,
  TestProject,
  textsOf,
} from '../../../testing/assistant.ts';
import { isIdle, startWithFamily } from '../../../testing/turn/tasks.ts';
import { DEFAULT_TIMEOUTS } from '../../contracts/options.ts';
import type { ServiceContext, StartService } from '../../contracts/service.ts';
import { defineTool, type Tool } from '../../contracts/tool.ts';
import { realTimer } from '../../scheduler/alarm.ts';
import { lazySandbox } from '../../turns/agent/lazy-sandbox.ts';
import { openTools } from '../../turns/tool-calls/toolbox.ts';

/** A service that hands its context out. */
function openService() {
  const { promise, resolve } = Promise.withResolvers<ServiceContext>();
  const start: StartService = (context) => {
    resolve(context);
    return { stop() {}, status: () => null };
  };
  return { context: promise, services: [{ name: 'outside', value: start }] };
}

const never = new AbortController().signal;

test('a service calls host tools in the name of a group, with the rights of that group', async () => {
  using project = new TestProject();
  const { context, services } = openService();
  const assistant = await startWithFamily(project, async () => answers('-'), undefined, {
    services,
  });
  const { tools } = await context;
  const offered = (folder: string) => tools.offered(folder).map(({ name }) => name);
  expect(offered('main')).toContain('register_group');
  expect(offered('family')).toContain('list_tasks');
  expect(offered('family')).not.toContain('register_group');
  expect(offered('nobody')).toEqual([]);
  const call = (folder: string, name: string, input: unknown) =>
    tools.call({ folder, name, input }, never);
  expect(await call('family', 'send_message', { text: 'from outside' })).toMatchObject({
    ok: true,
  });
  await vi.waitFor(() => expect(textsOf(assistant.chat)).toEqual(['from outside']));
  expect(await call('family', 'register_group', { group: 'x' })).toMatchObject({ ok: false });
  expect(await call('nobody', 'list_tasks', {})).toEqual({
    ok: false,
    value: 'No chat is registered with the folder nobody.',
  });
  expect(await call('main', 'stay_silent', {})).toMatchObject({ ok: false });
  expect(await call('main', 'owner_command', { command: '/status' })).toMatchObject({
    value: 'Owner commands are said in a chat.',
  });
  await assistant.stop();
});

test('a service offers tools while it runs, and none of them takes the name of another', async () => {
  using project = new TestProject();
  const { promise, resolve } = Promise.withResolvers<ServiceContext>();
  const toolOf = (name: string): Tool => ({
    name,
    description: 'of the depot',
    isMainOnly: false,
    input: z.unknown(),
    run: async () => `${name} from the depot`,
  });
  const start: StartService = (context) => {
    resolve(context);
    return { stop() {}, status: () => null, tools: () => ['fetch', 'list_tasks'].map(toolOf) };
  };
  const offers: unknown[] = [];
  const agent: AgentScript = async ({ folder, tools }, { onTool }) => {
    const ofDepot = tools.filter(({ description }) => description === 'of the depot');
    const { value } = await onTool({ folder, name: 'fetch', input: {} });
    offers.push([ofDepot.map(({ name }) => name), value]);
    return answers('done');
  };
  const services = [{ name: 'depot', value: start }];
  const assistant = await project.start({ agent, over: { services } });
  await assistant.terminal.say('one');
  await isIdle(assistant);
  (await promise).crash(new Error('gone'));
  await assistant.terminal.say('two');
  await isIdle(assistant);
  expect(offers).toEqual([
    [['fetch'], 'fetch from the depot'],
    [[], 'There is no host tool fetch.'],
  ]);
  await assistant.stop();
});

test('a turn waits for services that start or find out their tools, up to a limit, and tells what is missing', async () => {
  using project = new TestProject();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const asked: string[] = [];
  const greet: Tool = {
    name: 'greet',
    description: 'of the depot',
    isMainOnly: false,
    input: z.unknown(),
    run: async () => 'hello',
  };
  const depot: StartService = async () => {
    await begun;
    return {
      stop() {},
      status: () => null,
      tools: () => [greet],
      async toolsReady(folder, signal) {
        asked.push(folder);
        if (asked.length > 1) await once(signal, 'abort');
        return asked.length > 1 ? ['The depot is closed.'] : [];
      },
    };
  };
  // It hears no abort, and holds up nobody for good.
  const deaf: StartService = () => ({
    stop() {},
    status: () => null,
    toolsReady: async () => (asked.length > 1 ? await new Promise(() => {}) : []),
  });
  const prompts: string[] = [];
  const agent: AgentScript = async ({ tools, prompt }) => {
    prompts.push(prompt);
    return answers(tools.some(({ name }) => name === 'greet') ? 'with it' : 'without it');
  };
  const services = [
    { name: 'depot', value: depot },
    { name: 'deaf', value: deaf },
  ];
  const timeouts = { ...DEFAULT_TIMEOUTS, toolsMs: 500 };
  const limits: (() => void)[] = [];
  const setTimer = (ms: number, end: () => void) => {
    if (ms !== timeouts.toolsMs) return realTimer(ms, end);
    limits.push(end);
    return () => {};
  };
  const assistant = await project.start({ agent, over: { services, timeouts, setTimer } });
  const { terminal, store } = assistant;
  await terminal.say('one');
  await vi.waitFor(() => expect(store.turns.counts().running).toBe(1));
  await vi.waitFor(() => expect(limits).toHaveLength(1));
  expect(prompts).toEqual([]);
  begin();
  await vi.waitFor(() => expect(textsOf(terminal)).toEqual(['with it']));
  await terminal.say('two');
  await vi.waitFor(() => expect(limits).toHaveLength(2));
  expect(prompts).toHaveLength(1);
  limits[1]?.();
  await vi.waitFor(() =>
    expect(textsOf(terminal)).toEqual(['with it', 'The depot is closed.\n\nwith it']),
  );
  expect(prompts[1]).toContain('(The depot is closed.)');
  expect(asked).toEqual(['main', 'main']);
  await assistant.stop();
});

test('a service asks the owner, and what it asks is withdrawn when its call is aborted', async () => {
  using project = new TestProject();
  const { context, services } = openService();
  const slow = defineTool({
    name: 'slow',
    create: () => ({
      description: 'Asks.',
      isMainOnly: false,
      folders: ['main'],
      input: z.object({}),
      async run({ ask, signal }) {
        const { word } = await ask({ text: 'And this?' });
        return `${word}, ${signal.aborted ? 'aborted' : 'waited for'}`;
      },
    }),
  });
  const given = {
    assistantName: 'Andy',
    dataDir: project.dir,
    groupsDir: project.dir,
    timeZone: 'UTC',
    log: console,
  };
  const { tools } = openTools([slow], {}, { ...given, now: Date.now, newId: randomUUID });
  const assistant = await startWithFamily(project, async () => answers('-'), undefined, {
    services,
    tools,
  });
  // It is for the owner's own chats alone.
  expect((await context).tools.offered('main').map(({ name }) => name)).toEqual(['slow']);
  expect((await context).tools.offered('family')).toEqual([]);
  const { terminal } = assistant;
  const { ask } = await context;
  const asked = ask({ text: 'May it?', what: 'the thing' });
  await vi.waitFor(() => expect(textsOf(terminal).at(-1)).toContain('May it?'));
  await terminal.say('yes');
  expect(await asked).toMatchObject({ word: 'yes', isAnswered: true });
  const away = new AbortController();
  const withdrawn = ask({ text: 'Or that?' }, away.signal);
  await vi.waitFor(() => expect(textsOf(terminal).join()).toContain('Or that?'));
  away.abort();
  expect(await withdrawn).toEqual({ word: 'no', isAnswered: false });
  const leaving = new AbortController();
  const call = { folder: 'main', name: 'slow', input: {} };
  const left = (await context).tools.call(call, leaving.signal);
  await vi.waitFor(() => expect(textsOf(terminal).join()).toContain('And this?'));
  leaving.abort();
  expect(await left).toEqual({ ok: true, value: 'no, aborted' });
  await assistant.stop();
});

test('a service reads files of groups, and follows no link out of them', async () => {
  using project = new TestProject();
  const { context, services } = openService();
  const assistant = await startWithFamily(project, async () => answers('-'), undefined, {
    services,
  });
  const folder = join(project.dir, 'groups/family');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'CLAUDE.md'), 'No fish for Bob.');
  symlinkSync('/etc/hostname', join(folder, 'linked.md'));
  const { readGroupFile } = await context;
  expect(await readGroupFile('family', ['CLAUDE.md'])).toBe('No fish for Bob.');
  expect(await readGroupFile('family', ['linked.md'])).toBeNull();
  expect(await readGroupFile('family', ['..', 'main', 'CLAUDE.md'])).toBeNull();
  expect(await readGroupFile('nobody', ['CLAUDE.md'])).toBeNull();
  await assistant.stop();
});

test('a program of a service ends with it', async () => {
  using project = new TestProject();
  const { context, services } = openService();
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const stop = vi.fn(async () => end('stopped'));
  const streams = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  };
  const startProgram = async (): Promise<Program> => ({ ...streams, ended, stop });
  const sandbox = lazySandbox(async () => ({
    kind: 'ready',
    sandbox: {
      engine: 'bubblewrap',
      description: 'test',
      runTurn: async () => answers('-'),
      startProgram,
      stop: async () => {},
      warm: () => 0,
      close: async () => {},
    },
  }));
  const assistant = await startAssistant(project.dir, { over: { services, sandbox } });
  const given = await context;
  await given.startProgram({
    name: 'one',
    sharedAs: 'test:one',
    command: ['true'],
    environment: {},
    filesDir: null,
    homeDir: project.dir,
    hasNetwork: false,
  });
  expect(stop).not.toHaveBeenCalled();
  await assistant.stop();
  expect(await ended).toBe('stopped');
});

test('frames of a channel reach the service that takes them, and its own go out; links are told', async () => {
  using project = new TestProject();
  const { promise, resolve } = Promise.withResolvers<ServiceContext>();
  const told: unknown[] = [];
  const start: StartService = (context) => {
    resolve(context);
    return {
      stop() {},
      status: () => null,
      onFrame({ body }) {
        if (body['frame'] === 'break') throw new Error('no idea');
        told.push(body);
        return body['frame'] === 'hello';
      },
      onLink: (channel, isConnected) => void told.push([channel, isConnected]),
    };
  };
  const assistant = await project.start({ over: { services: [{ name: 'bench', value: start }] } });
  const { sendFrame } = await promise;
  const { chat } = assistant;
  const hello = { frame: 'hello' };
  expect(chat.frame('chat:board', hello)).toBe(true);
  expect(chat.frame('chat:board', { frame: 'other' })).toBe(false);
  // One that breaks on a frame has it: it is not a message for that.
  expect(chat.frame('chat:board', { frame: 'break' })).toBe(true);
  chat.become({ state: 'connecting', detail: null });
  expect(told).toEqual(
    expect.arrayContaining([['chat', true], hello, { frame: 'other' }, ['chat', false]]),
  );
  const sent: unknown[] = [];
  await expect(sendFrame('chat:board', hello)).rejects.toThrow('chat carries no frames.');
  await expect(sendFrame('nowhere:board', hello)).rejects.toThrow('No channel has the chat');
  chat.sendFrame = async (jid, body) => void sent.push([jid, body]);
  await sendFrame('chat:board', hello);
  expect(sent).toEqual([['chat:board', hello]]);
  await assistant.stop();
});
