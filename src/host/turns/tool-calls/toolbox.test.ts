import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { type AgentScript, answers, TestProject } from '../../../testing/assistant.ts';
import { ContributionFolder } from '../../../testing/contributions.ts';
import { commands } from '../../../testing/turn/tasks.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { discoverTools } from '../../contracts/tool.ts';
import { openTools } from './toolbox.ts';

const IMPORTS = `import { z } from 'zod';
import { defineTool, defineTools } from 'src/host/contracts/tool.ts';\n`;

const SEARCH = `${IMPORTS}
export const tool = defineTool({
  name: 'web_search',
  settings: z.object({ SEARCH_KEY: z.string().min(8, 'must be 8 letters at least').optional() }),
  needs: ['SEARCH_KEY'],
  create: (context) => context.settings.SEARCH_KEY === undefined ? null : {
    description: 'Searches the web.',
    isMainOnly: false,
    input: z.object({ query: z.string() }),
    run: async (call, { query }) => ({
      query,
      key: context.settings.SEARCH_KEY,
      creation: Object.keys(context).sort(),
      call: Object.keys(call).sort(),
    }),
  },
});`;

/** A server whose tools come and go with `globalThis[NAME]`. */
const remote = (name: string) => `${IMPORTS}
export const tool = defineTools({
  name: '${name}',
  create: () => () => globalThis.${name}.map((name) => ({
    name,
    description: 'of another server',
    isMainOnly: false,
    input: z.unknown(),
    inputSchema: { type: 'object', properties: { q: { type: 'string' } } },
    run: async (call, input) => ({ list: '${name}', input }),
  })),
});`;

function parts() {
  const warned: [string, unknown][] = [];
  const context: Omit<ToolContext, 'openDatabase'> = {
    assistantName: 'Andy',
    dataDir: '/nowhere',
    groupsDir: '/nowhere',
    timeZone: 'UTC',
    log: { info() {}, error() {}, warn: (message, data) => warned.push([message, data]) },
    now: () => 0,
    newId: randomUUID,
  };
  // Everything that a careless caller could hand over with it.
  return { warned, context: { ...context, claw: () => {}, git: () => {}, requestRestart() {} } };
}

async function opened(folder: ContributionFolder, environment: Record<string, string> = {}) {
  const { warned, context } = parts();
  const definitions = await discoverTools(folder.dir);
  return { warned, ...openTools(definitions, environment, context) };
}

/** Calls tools in a turn of the owner's, and keeps what they gave and what was offered. */
function recorder() {
  const results: unknown[] = [];
  const offers: string[][] = [];
  const calls: [string, unknown][] = [];
  const agent: AgentScript = async ({ tools }, { onTool }) => {
    offers.push(tools.map(({ name }) => name));
    for (const [name, input] of calls.splice(0)) {
      results.push(await onTool({ folder: 'main', name, input }));
    }
    return answers('done');
  };
  return { agent, results, offers, calls };
}

test('a tool gets its own settings, and exactly what the contract names, at its creation and in a call', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'search.ts': SEARCH });
  const { tools } = await opened(folder, { SEARCH_KEY: 'k-12345678', OTHER_KEY: 'secret' });
  const { agent, results, calls } = recorder();
  const assistant = await project.start({ agent, over: { tools } });
  calls.push(['web_search', { query: 'rain' }], ['web_search', { query: 1 }]);
  expect(await commands(assistant, 'look it up')).toBe('done');
  expect(results).toEqual([
    {
      ok: true,
      value: {
        query: 'rain',
        key: 'k-12345678',
        creation: [
          'assistantName',
          'dataDir',
          'groupsDir',
          'log',
          'newId',
          'now',
          'openDatabase',
          'settings',
          'timeZone',
        ],
        call: [
          'ask',
          'callService',
          'caller',
          'capabilitiesOf',
          'fetchAttachment',
          'idempotencyKey',
          'ownerCommand',
          'reachOf',
          'registry',
          'send',
          'signal',
          'staySilent',
          'store',
          'tasks',
          'timeZone',
        ],
      },
    },
    {
      ok: false,
      value: expect.stringContaining('The input does not fit'),
      fault: 'bad-arguments',
    },
  ]);
  await assistant.stop();
});

test('a tool whose settings are wrong or lacking is off, the others run, and the status says why', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({
    'search.ts': SEARCH,
    'other.ts': SEARCH.replaceAll('SEARCH_KEY', 'OTHER_KEY').replace('web_search', 'other'),
    'third.ts': SEARCH.replaceAll('SEARCH_KEY', 'THIRD_KEY').replace('web_search', 'third'),
  });
  const environment = { SEARCH_KEY: 'short', THIRD_KEY: 'long enough' };
  const { tools, silent } = await opened(folder, environment);
  expect(tools.list().map(({ name }) => name)).toEqual(['third']);
  const silentParts = silent.map((one) => ({ kind: 'tool', ...one }));
  const assistant = await project.start({ environment, over: { tools, silentParts } });
  const status = await commands(assistant, '/status');
  expect(status).toContain(
    'tool web_search: off (SEARCH_KEY in `.env` must be 8 letters at least)',
  );
  expect(status).toContain('tool other: off (set OTHER_KEY in `.env`, then say `/restart`)');
  expect(status).not.toContain('tool third');
  await assistant.stop();
});

test('a list of tools is described at each turn as it is then, and a turn calls what it was offered', async () => {
  using project = new TestProject();
  using folder = new ContributionFolder({ 'remote.ts': remote('remoteA') });
  const { tools } = await opened(folder);
  const { agent, results, offers, calls } = recorder();
  const here = globalThis as unknown as Record<string, string[]>;
  here['remoteA'] = ['look'];
  const assistant = await project.start({ agent, over: { tools } });
  await commands(assistant, 'one');
  here['remoteA'] = ['look', 'leap'];
  calls.push(['leap', { q: 'far' }]);
  await commands(assistant, 'two');
  here['remoteA'] = [];
  await commands(assistant, 'three');
  expect(offers).toEqual([['look'], ['look', 'leap'], []]);
  expect(results).toEqual([{ ok: true, value: { list: 'remoteA', input: { q: 'far' } } }]);
  await assistant.stop();
});

test('two files that define one tool refuse the start, and both are named', async () => {
  using folder = new ContributionFolder({ 'a.ts': SEARCH, 'b.ts': SEARCH });
  await expect(discoverTools(folder.dir)).rejects.toThrow(
    /a\.ts and .*b\.ts are both called "web_search"/,
  );
});

test('a listed tool whose name is taken or unusable is left out, and reported once', async () => {
  using folder = new ContributionFolder({
    'a-remote.ts': remote('remoteB'),
    'b-remote.ts': remote('remoteC'),
    'search.ts': SEARCH,
  });
  const here = globalThis as unknown as Record<string, string[]>;
  here['remoteB'] = ['web_search', 'look'];
  here['remoteC'] = ['look', 'no name'];
  const { tools, warned } = await opened(folder, { SEARCH_KEY: 'k-12345678' });
  for (const _ of [1, 2]) {
    expect(tools.list().map(({ name, description }) => `${name}: ${description}`)).toEqual([
      'web_search: Searches the web.',
      'look: of another server',
    ]);
  }
  const twice = 'two tools have one name, the second is left out';
  expect(warned).toEqual([
    [twice, { tool: 'web_search', list: 'remoteB', holder: 'web_search' }],
    [twice, { tool: 'look', list: 'remoteC', holder: 'remoteB' }],
    [expect.stringContaining('no model takes'), { tool: 'no name', list: 'remoteC' }],
  ]);
});

test('a list that cannot be read takes no other tool with it', async () => {
  using folder = new ContributionFolder({ 'remote.ts': remote('neverSet'), 'search.ts': SEARCH });
  const { tools, warned } = await opened(folder, { SEARCH_KEY: 'k-12345678' });
  expect(tools.list().map(({ name }) => name)).toEqual(['web_search']);
  expect(warned).toMatchObject([['a list of tools cannot be read', { list: 'neverSet' }]]);
});
