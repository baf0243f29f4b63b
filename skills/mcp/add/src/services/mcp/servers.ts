import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import type { HostLog } from '../../host/contracts/log.ts';
import type { Tool } from '../../host/contracts/tool.ts';
import type { HttpServer, McpConfig, McpServer, StdioServer } from '../../lib/mcp/config.ts';
import { launchOf, serverFolder } from '../../lib/mcp/packages.ts';
import { keepStates, type ServerState } from '../../lib/mcp/server-states.ts';
import type { StartProgram } from '../../lib/program.ts';
import { ServerConnection, type ServerTransport } from './connection.ts';
import { fetchFor, type LimitedFetch } from './limited-fetch.ts';
import { machineLogin } from './machine-login.ts';
import { forgetOAuth, type OAuthSession, openOAuth } from './oauth.ts';
import { ProgramTransport } from './program-transport.ts';
import { offeredTools, type RemoteTool } from './remote-tools.ts';
import { agentResult } from './result.ts';
import { NETWORK, type Network } from './server-network.ts';

export type ServersOptions = {
  readonly dataDir: string;
  readonly assistantName: string;
  readonly log: HostLog;
  readonly now: () => number;
  readonly setTimer: (delayMs: number, callback: () => void) => () => void;
  readonly startProgram: StartProgram;
  /** Returns the address that a browser comes back to after a login. */
  readonly redirectUrl: () => Promise<string>;
  readonly readConfig: () => McpConfig;
  /** The network of servers elsewhere; a test has one of its own. */
  readonly network?: Network;
};

type Running = {
  readonly entry: string;
  readonly connection: ServerConnection;
  readonly oauth: () => OAuthSession | null;
};

/** All servers of the owner's list, and their tools. */
export class McpServers {
  readonly #options: ServersOptions;
  readonly #running = new Map<string, Running>();
  #problems: readonly string[] = [];
  #tools: readonly Tool[] = [];
  #isStopped = false;
  /** Told when a server's state or tools are others. */
  readonly #watching = new Set<() => void>();

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /** Follows the list: what is new or other is connected, what is gone is ended. Others are left alone. */
  async reload(): Promise<void> {
    if (this.#isStopped) return;
    const { servers, problems } = this.#options.readConfig();
    this.#problems = problems;
    for (const problem of problems) this.#options.log.warn(problem);
    const wanted = new Map(
      servers.filter(({ disabled }) => !disabled).map((one) => [one.name, one]),
    );
    const entryOf = (server: McpServer | undefined): string => JSON.stringify(server);
    const gone = [...this.#running].filter(
      ([name, { entry }]) => entry !== entryOf(wanted.get(name)),
    );
    await Promise.all(
      gone.map(async ([name, { connection }]) => {
        this.#running.delete(name);
        await connection.stop();
      }),
    );
    const fresh = [...wanted.values()].filter(({ name }) => !this.#running.has(name));
    const redirect = fresh.some(({ kind }) => kind === 'http')
      ? await this.#options.redirectUrl()
      : '';
    if (this.#isStopped) return;
    for (const server of fresh) {
      const running = this.#open(server, redirect);
      this.#running.set(server.name, { entry: entryOf(server), ...running });
      void running.connection.connect();
    }
    this.#changed();
  }

  states(): readonly ServerState[] {
    return [...this.#running.values()].map(({ connection }) => connection.state());
  }

  /** Sentences about entries of the list that cannot be used. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** The tools of all servers, as agents are offered them. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /**
   * Waits for the servers of a folder that connect for the first time, or for the abort.
   *
   * @returns a sentence on each that has not come
   */
  async ready(folder: string, signal: AbortSignal): Promise<readonly string[]> {
    const servers = (): readonly ServerConnection[] =>
      [...this.#running.values()]
        .map(({ connection }) => connection)
        .filter(({ server: { groups } }) => groups.includes('*') || groups.includes(folder));
    const isOpen = () => servers().some(({ isFirstAttempt }) => isFirstAttempt);
    while (isOpen() && !signal.aborted && !this.#isStopped) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#watching.add(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      this.#watching.delete(resolve);
    }
    return servers()
      .filter((one) => !one.isListed && ['starting', 'waiting'].includes(one.state().state))
      .map(
        ({ server: { name } }) =>
          `The tool server ${name} is not connected, so its tools are missing here. \`/mcp\` shows why.`,
      );
  }

  find(name: string): ServerConnection | null {
    return this.#running.get(name)?.connection ?? null;
  }

  /** Begins a login once more, and returns its page; null where the server wants none. */
  async login(name: string): Promise<URL | null> {
    const connection = this.find(name);
    if (connection === null) throw new Error(`There is no server ${name}.`);
    if (connection.state().state !== 'connected') await connection.connect();
    return connection.loginPage;
  }

  /** Ends a login with the query of the address that the browser came back to. @returns the server's name */
  async finishLogin(query: URLSearchParams): Promise<string> {
    const found = [...this.#running.values()].find(({ oauth }) =>
      oauth()?.isExpected(query.get('state')),
    );
    if (found === undefined)
      throw new Error('No login of a server waits for this answer. Begin it again.');
    const { connection } = found;
    const code = query.get('code');
    if (code === null) {
      const why = query.get('error_description') ?? query.get('error') ?? 'no reason given';
      throw new Error(`${connection.server.name} did not let you in: ${why.slice(0, 200)}.`);
    }
    await connection.finishLogin(code);
    return connection.server.name;
  }

  /** Forgets the tokens of a server, and connects without them. */
  async logout(name: string): Promise<void> {
    forgetOAuth(this.#options.dataDir, name);
    const running = this.#running.get(name);
    if (running === undefined) return;
    await running.oauth()?.invalidateCredentials?.('all');
    await running.connection.connect();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const tell of this.#watching) tell();
    await Promise.all([...this.#running.values()].map(({ connection }) => connection.stop()));
    this.#tools = [];
  }

  #open(server: McpServer, redirect: string): Pick<Running, 'connection' | 'oauth'> {
    const { setTimer, now, log } = this.#options;
    const common = { server, setTimer, now, log, onChange: () => this.#changed() };
    if (server.kind === 'stdio') {
      const open = () => this.#openProgram(server);
      return { connection: new ServerConnection({ ...common, open }), oauth: () => null };
    }
    const { dataDir, assistantName } = this.#options;
    const onLogin = (page: URL): void => connection.wantsLogin(page);
    const oauth = openOAuth({ dataDir, server, redirectUrl: redirect, assistantName, onLogin });
    const { network = NETWORK } = this.#options;
    const ask = fetchFor(new URL(server.url), network, { now, setTimer });
    const open = () => openHttp(server, oauth, ask);
    const connection = new ServerConnection({ ...common, open });
    return { connection, oauth: () => oauth };
  }

  #openProgram(server: StdioServer): ServerTransport {
    const { dataDir, startProgram, now, setTimer } = this.#options;
    const start = async () => {
      const { name, network } = server;
      const { filesDir, command, environment } = launchOf(server, dataDir);
      return await startProgram({
        name: `mcp-${name}`,
        sharedAs: `mcp:${name}`,
        command,
        environment,
        filesDir,
        homeDir: serverFolder(dataDir, name).home,
        hasNetwork: network,
      });
    };
    const transport = new ProgramTransport(start, { now, setTimer });
    return { transport, end: () => transport.end, finishLogin: null };
  }

  #changed(): void {
    const running = [...this.#running.values()];
    this.#tools = running.flatMap(({ connection }) =>
      [...offeredTools(connection.server.name, connection.tools)].map((named) =>
        offered(connection, named, this.#options.dataDir),
      ),
    );
    for (const tell of this.#watching) tell();
    if (this.#isStopped) return;
    try {
      keepStates(this.#options.dataDir, this.states(), this.#options.now());
    } catch (error) {
      // The doctor shows an older state then.
      this.#options.log.warn('the states of MCP servers were not stored', { error: String(error) });
    }
  }
}

function openHttp(server: HttpServer, oauth: OAuthSession, ask: LimitedFetch): ServerTransport {
  const hasOwnKey = Object.keys(server.headers).some(
    (name) => name.toLowerCase() === 'authorization',
  );
  const machine = machineLogin(server);
  const url = new URL(server.url);
  let end: string | null = null;
  const stop = (what: string): void => {
    end ??= `sent a message ${what}, and was stopped`;
    void transport.close();
  };
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers: server.headers },
    fetch: (address, init) => ask(address, init, stop),
    // A key of the owner's takes the place of a login.
    ...(hasOwnKey ? {} : { authProvider: machine ?? oauth }),
  });
  const finishLogin =
    hasOwnKey || machine !== null ? null : (code: string) => transport.finishAuth(code);
  return { transport, end: () => end, finishLogin };
}

/** Offers a server's tool to the agents of its groups. */
function offered(
  connection: ServerConnection,
  [name, tool]: readonly [string, RemoteTool],
  dataDir: string,
): Tool {
  const { groups } = connection.server;
  return {
    name,
    description: tool.description,
    isMainOnly: false,
    repeat: tool.repeat,
    brings: 'outside',
    ...(groups.includes('*') ? {} : { folders: groups }),
    input: z.unknown(),
    inputSchema: tool.inputSchema,
    async run({ caller, idempotencyKey, signal, ask }, input) {
      const call = { tool: tool.name, input: input ?? {}, idempotencyKey, signal, ask };
      const result = await connection.call(call);
      return agentResult(result, { dataDir, folder: caller.folder });
    },
  };
}
