import { parseArgs } from 'node:util';
import { z } from 'zod';
import { configFile, type McpServer, parseServer, readMcpConfig } from '../lib/mcp/config.ts';
import { editConfig, entryOf } from '../lib/mcp/edit.ts';
import { installServer } from '../lib/mcp/install.ts';
import { launchOf } from '../lib/mcp/packages.ts';
import { probe } from '../lib/mcp/probe.ts';
import { countedTools, readStates } from '../lib/mcp/server-states.ts';
import {
  defineSetup,
  type OwnSettings,
  type SetupContext,
  type SetupOutcome,
  SetupRefused,
} from './step.ts';

const USAGE =
  '[add NAME "COMMAND OR URL" [--groups main,family] [--network] | install NAME | test NAME | remove NAME | list]';
const PROBE_MS = 20_000;
const Environment = z.looseObject({});

type Context = SetupContext & OwnSettings<typeof Environment.shape>;

/** Adds, tries and removes the owner's MCP servers. */
export const setup = defineSetup({
  name: 'mcp',
  help: 'add, try or remove a tool server (MCP): a command such as "npx -y <package>", or an address',
  usage: USAGE,
  settings: Environment,
  currentState({ dataDir, settings }) {
    const names = readMcpConfig(dataDir, settings).servers.map(({ name }) => name);
    return names.length === 0 ? null : names.join(', ');
  },
  run: setUpMcp,
});

async function setUpMcp(context: Context): Promise<SetupOutcome> {
  const { words, groups, network } = readArguments(context.args);
  const [verb = 'add', name = '', typed = ''] = words;
  switch (verb) {
    case 'add':
      return await add(context, { name, typed, groups, network });
    case 'list':
      return list(context);
    case 'install':
      return await install(context, find(context, name));
    case 'test':
      return await tryServer(context, find(context, name));
    case 'remove':
      find(context, name);
      editConfig(context.dataDir, name, null);
      return { summary: `${name} is out of the list.`, data: { name } };
    default:
      throw new SetupRefused(`Say \`npx claw setup mcp ${USAGE}\`.`, { isWrongUse: true });
  }
}

function readArguments(args: readonly string[]) {
  try {
    const options = { groups: { type: 'string' }, network: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const groups = (values.groups ?? '').split(',').filter((group) => group !== '');
    return { words: positionals, groups, network: values.network === true };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupRefused(
      `${reason} Say \`npx claw setup mcp ${USAGE}\`, with the command in quotes.`,
      { isWrongUse: true },
    );
  }
}

type Added = {
  readonly name: string;
  readonly typed: string;
  readonly groups: readonly string[];
  readonly network: boolean;
};

async function add(context: Context, given: Added): Promise<SetupOutcome> {
  const { dataDir, ask, say } = context;
  const check = (name: string, typed: string): string | null => {
    const server = parseServer(name, entryOf(typed, given), context.settings);
    return typeof server === 'string' ? `It ${server}.` : null;
  };
  const name =
    given.name === ''
      ? await ask({
          message: 'A short name for the server',
          check: (typed) => check(typed, 'true'),
        })
      : given.name;
  const message = 'Its address (https://…), or the command that starts it (npx -y <package>)';
  const typed =
    given.typed === ''
      ? await ask({ message, check: (one) => (one.trim() === '' ? 'Type one.' : check(name, one)) })
      : given.typed;
  const entry = entryOf(typed, given);
  const server = parseServer(name, entry, context.settings);
  if (typeof server === 'string') throw new SetupRefused(`It ${server}.`, { isWrongUse: true });
  const enlist = (): void => {
    editConfig(dataDir, name, entry);
    say(`${name} is in ${configFile(dataDir)}.`);
  };
  if (server.kind === 'http') enlist();
  const { summary } =
    server.kind === 'stdio' ? await install(context, server) : await tryServer(context, server);
  // An assistant that runs starts what is in the list at once, so its files have to be there.
  if (server.kind === 'stdio') enlist();
  return { summary, data: { name, groups: server.groups } };
}

async function install(
  { dataDir, say, signal }: Context,
  server: McpServer,
): Promise<SetupOutcome> {
  const { name, groups } = server;
  if (server.kind === 'http')
    return { summary: `${name} is elsewhere; nothing is installed.`, data: { name } };
  say('Fetching its files; containers have no network to do that.');
  const isFetched = await refused(() => installServer(server, dataDir, signal));
  const network = server.network ? 'and the network' : 'and no network (--network gives it that)';
  const files = isFetched ? 'has its files' : 'is a program of its container’s own';
  return {
    summary: `${name} ${files}, ${network}. Its tools are for ${groups.join(', ')}; \`/mcp\` in the chat shows how it does.`,
    data: { name },
  };
}

async function tryServer({ dataDir }: Context, server: McpServer): Promise<SetupOutcome> {
  const { name } = server;
  if (server.kind === 'http') {
    const found = await probe(server, PROBE_MS);
    if (found.kind === 'failed')
      throw new SetupRefused(`${name} is in the list and cannot be reached (${found.reason}).`);
    const next =
      found.kind === 'login'
        ? `wants you to log in: say \`/mcp login ${name}\` in the chat`
        : 'answers';
    return { summary: `${name} ${next}.`, data: { name, state: found.kind } };
  }
  await refused(async () => launchOf(server, dataDir));
  const state = readStates(dataDir)?.servers.find((one) => one.name === name);
  if (state === undefined)
    return {
      summary: `${name} has its files. It runs when the assistant does; \`/mcp\` tells how.`,
      data: { name },
    };
  const note = state.detail === null ? '' : ` (${state.detail})`;
  if (state.state !== 'connected') throw new SetupRefused(`${name} is ${state.state}${note}.`);
  return {
    summary: `${name} is connected, with ${countedTools(state.tools)}${note}.`,
    data: { ...state },
  };
}

function list({ dataDir, settings, say }: Context): SetupOutcome {
  const { servers, problems } = readMcpConfig(dataDir, settings);
  for (const server of servers) {
    const what = server.kind === 'http' ? server.url : [server.command, ...server.args].join(' ');
    say(`${server.name}: ${what}, for ${server.groups.join(', ')}`);
  }
  for (const problem of problems) say(problem);
  return {
    summary: `${servers.length} servers in ${configFile(dataDir)}.`,
    data: { servers: servers.map(({ name }) => name) },
  };
}

function find({ dataDir, settings }: Context, name: string): McpServer {
  const { servers, problems } = readMcpConfig(dataDir, settings);
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  const problem = problems.find((one) => one.includes(`"${name}"`)) ?? problems[0];
  throw new SetupRefused(
    problem ?? `There is no server ${name || 'without a name'} in ${configFile(dataDir)}.`,
    { isWrongUse: true },
  );
}

async function refused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new SetupRefused(error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}
