import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ElicitRequestSchema,
  ErrorCode,
  McpError,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { z } from 'zod';
import type { Ask } from '../../host/contracts/ask.ts';
import type { HostLog } from '../../host/contracts/log.ts';
import type { McpServer } from '../../lib/mcp/config.ts';
import { connectionProblem } from '../../lib/mcp/probe.ts';
import type { ServerState } from '../../lib/mcp/server-states.ts';
import { ToolFault, type ToolFaultKind } from '../../lib/tool-fault.ts';
import { elicit } from './elicitation.ts';
import { listRemoteTools, type RemoteTool } from './remote-tools.ts';
import { CallResult } from './result.ts';
import { withoutSecrets } from './without-secrets.ts';

const CONNECT_MS = 30_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A connection that lasted so long was no part of a row of failures. */
const STABLE_MS = 60_000;
const LONGEST_CALL_MS = 3_600_000;
/** Between two looks at a list that the server says has changed. */
const LIST_PAUSE_MS = 1_000;
/** The owner's attention is not a server's: more forms of one call are declined. */
const MAX_FORMS = 5;
const CLIENT = { name: 'patchclaw', version: '1.0.0' };
/** The name of a call's idempotency key in the `_meta` of `tools/call`. */
const IDEMPOTENCY_KEY = 'patchclaw/idempotency-key';

/** A way to a server that can say why it ended. */
export type ServerTransport = {
  readonly transport: Transport;
  /** Why the connection ended, as the rest of a sentence; null where it does not know. */
  readonly end: () => string | null;
  /** Trades the browser's answer for tokens; null where the server has no login. */
  readonly finishLogin: ((code: string) => Promise<void>) | null;
};

export type ConnectionOptions = {
  readonly server: McpServer;
  readonly open: () => ServerTransport;
  readonly setTimer: (delayMs: number, callback: () => void) => () => void;
  readonly now: () => number;
  readonly log: HostLog;
  /** Its state or its tools are others now. */
  readonly onChange: () => void;
};

/** One call of a server's tool. */
export type RemoteCall = {
  readonly tool: string;
  readonly input: unknown;
  readonly idempotencyKey: string | null;
  readonly signal: AbortSignal;
  /** Asks the owner where the server wants to know something meanwhile. */
  readonly ask: Ask;
};

/** The connection to one server: made, kept, and made again after a pause where it ends. */
export class ServerConnection {
  readonly server: McpServer;
  readonly #options: ConnectionOptions;
  readonly #stopped = new AbortController();
  #client: Client | null = null;
  #opened: ServerTransport | null = null;
  #state: Pick<ServerState, 'state' | 'detail'> = { state: 'starting', detail: null };
  #tools: readonly RemoteTool[] = [];
  #isListed = false;
  #failures = 0;
  #connectedAt = 0;
  #cancelRetry = (): void => {};
  #cancelListing: (() => void) | null = null;
  #hasListChanged = false;
  /** Calls under way that may ask, the newest last, and how many forms each may still bring. */
  #asking: readonly { readonly ask: Ask; formsLeft: number }[] = [];
  #loginPage: URL | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.server = options.server;
  }

  /** Tools as the server listed them last; those of a server that is started again stay. */
  get tools(): readonly RemoteTool[] {
    return this.#tools;
  }

  /** True once the server has listed its tools; it then offers them also while it is started again. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** True during the first attempt to connect. Turns do not wait for the later ones, which may never succeed. */
  get isFirstAttempt(): boolean {
    return this.#state.state === 'starting' && !this.#isListed && this.#failures === 0;
  }

  state(): ServerState {
    const { name, groups } = this.server;
    return { name, ...this.#state, tools: this.#tools.length, groups: [...groups] };
  }

  /** The page on which the owner has to agree; null where there is nothing to agree to. */
  get loginPage(): URL | null {
    return this.#loginPage;
  }

  /** Notes the page of a login that the server wants. */
  readonly wantsLogin = (page: URL): void => {
    this.#loginPage = page;
  };

  /** Connects, or connects again at once. Never rejects: the state tells how it went. */
  async connect(): Promise<void> {
    this.#cancelRetry();
    await this.#leave();
    if (this.#stopped.signal.aborted) return;
    this.#loginPage = null;
    this.#become('starting', null);
    const opened = this.#options.open();
    const client = this.#createClient();
    this.#opened = opened;
    this.#client = client;
    const { signal } = this.#stopped;
    try {
      await client.connect(opened.transport, { timeout: CONNECT_MS, signal });
      await this.#list(client);
      if (this.#client !== client) return;
      this.#connectedAt = this.#options.now();
      // From here on its end is a loss; before, it is the reason why this failed.
      client.onclose = () => this.#lost(client, opened.end() ?? 'closed the connection');
      if (opened.end() !== null) this.#lost(client, opened.end() ?? '');
    } catch (error) {
      if (this.#client !== client) return;
      if (error instanceof UnauthorizedError) return this.#needsLogin();
      this.#lost(client, opened.end() ?? `cannot be reached: ${sentence(error)}`);
    }
  }

  /** Ends a login with the code that the browser brought, and connects. */
  async finishLogin(code: string): Promise<void> {
    const finish = this.#opened?.finishLogin ?? null;
    if (finish === null) throw new Error(`${this.server.name} asks for no login now.`);
    await finish(code);
    await this.connect();
  }

  /**
   * Calls a tool.
   *
   * @throws Error in words for the agent; ToolFault `timeout` or `unknown` where the call may have taken effect
   */
  async call({
    tool,
    input,
    idempotencyKey,
    signal,
    ask,
  }: RemoteCall): Promise<z.output<typeof CallResult>> {
    const { timeout } = this.server;
    const client = this.#client;
    if (client === null || this.#state.state !== 'connected')
      throw new Error(withoutSecrets(this.server, this.#offText()));
    const asking = { ask, formsLeft: MAX_FORMS };
    this.#asking = [...this.#asking, asking];
    try {
      const meta = idempotencyKey === null ? {} : { _meta: { [IDEMPOTENCY_KEY]: idempotencyKey } };
      const params = { name: tool, arguments: input, ...meta };
      return await client.request({ method: 'tools/call', params }, CallResult, {
        signal,
        timeout: timeout * 1_000,
        resetTimeoutOnProgress: true,
        maxTotalTimeout: LONGEST_CALL_MS,
        // The token that it needs to tell of progress is sent only where progress is listened to.
        onprogress: () => {},
      });
    } catch (error) {
      if (signal.aborted) throw new Error('The turn was stopped, and the call with it.');
      const fault = this.#failureOf(client, error);
      throw new ToolFault(fault.kind, withoutSecrets(this.server, fault.message));
    } finally {
      this.#asking = this.#asking.filter((one) => one !== asking);
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#cancelRetry();
    await this.#leave();
    this.#become('off', null);
  }

  #createClient(): Client {
    const { name } = this.server;
    const client = new Client(CLIENT, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      const asking = this.#asking.at(-1);
      if (asking === undefined || asking.formsLeft === 0) return { action: 'decline' };
      asking.formsLeft -= 1;
      return await elicit(name, params, asking.ask);
    });
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#listAgain(client));
    // A line that is not a message is counted by the transport.
    client.onerror = () => {};
    return client;
  }

  /** Looks at the list again: at once, or after a pause, if it was looked at just now. */
  #listAgain(client: Client): void {
    if (this.#client !== client) return;
    this.#hasListChanged = true;
    if (this.#cancelListing !== null) return;
    this.#hasListChanged = false;
    this.#cancelListing = () => {};
    const list = this.#list(client).catch((error: unknown) =>
      this.#options.log.warn('an MCP server does not list its tools', {
        server: this.server.name,
        error: withoutSecrets(this.server, sentence(error)),
      }),
    );
    void list.then(() => {
      if (this.#client !== client) return;
      this.#cancelListing = this.#options.setTimer(LIST_PAUSE_MS, () => {
        this.#cancelListing = null;
        if (this.#hasListChanged) this.#listAgain(client);
      });
    });
  }

  async #list(client: Client): Promise<void> {
    const { now } = this.#options;
    // Without the signal of the end, which would keep each page till then: the end closes the client, and so this.
    const options = { timeout: CONNECT_MS, now };
    const has = client.getServerCapabilities()?.tools !== undefined;
    const { tools, leftOut } = has
      ? await listRemoteTools(client, this.server.tools, options)
      : { tools: [], leftOut: null };
    if (this.#client !== client) return;
    this.#tools = tools;
    this.#isListed = true;
    if (leftOut !== null)
      this.#options.log.warn('tools of an MCP server are left out', {
        server: this.server.name,
        leftOut,
      });
    this.#become('connected', leftOut);
  }

  /** Ends the present connection without a word of it. */
  async #leave(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    this.#cancelListing?.();
    this.#cancelListing = null;
    if (client === null) return;
    client.onclose = () => {};
    await client.close().catch(() => {
      // What cannot be closed is gone already.
    });
  }

  #lost(client: Client, reason: string): void {
    if (this.#client !== client || this.#stopped.signal.aborted) return;
    const { now, setTimer, log } = this.#options;
    const why = withoutSecrets(this.server, reason);
    const lastedMs = this.#connectedAt === 0 ? 0 : now() - this.#connectedAt;
    this.#connectedAt = 0;
    this.#failures = lastedMs >= STABLE_MS ? 1 : this.#failures + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS);
    log.warn('an MCP server is gone and is connected again', {
      server: this.server.name,
      reason: why,
      pauseMs,
    });
    void this.#leave();
    this.#become('waiting', `${why}; tried again in ${pauseMs / 1_000} s`);
    this.#cancelRetry = setTimer(pauseMs, () => void this.connect());
  }

  #needsLogin(): void {
    this.#become('login', `say \`/mcp login ${this.server.name}\``);
  }

  /** What went wrong with a call that was sent. */
  #failureOf(client: Client, error: unknown): Fault {
    const { name, kind, timeout } = this.server;
    if (error instanceof UnauthorizedError) {
      this.#needsLogin();
      return failed(`${name} wants the owner to log in: they say /mcp login ${name}.`);
    }
    const end = this.#client === client ? (this.#opened?.end() ?? null) : null;
    if (end !== null || this.#state.state !== 'connected') return unknown(this.#offText());
    if (!(error instanceof McpError)) {
      if (Array.isArray(Object(error).issues))
        return unknown(`${name} answered with something that is no result of a tool.`);
      if (kind === 'http') this.#lost(client, `cannot be reached: ${sentence(error)}`);
      return unknown(`${name} did not answer: ${sentence(error)}`);
    }
    if (error.code === ErrorCode.RequestTimeout) {
      const message = `${name} gave no sign of life for ${timeout} s, so the call was given up.`;
      return { kind: 'timeout', message };
    }
    if (error.code === ErrorCode.ConnectionClosed) return unknown(this.#offText());
    return failed(`${name} refused the call: ${sentence(error)}`);
  }

  #offText(): string {
    const { state, detail } = this.#state;
    if (this.#stopped.signal.aborted)
      return `The tool server ${this.server.name} was switched off or taken out.`;
    const why = this.#opened?.end() ?? detail;
    if (state === 'login')
      return `${this.server.name} wants the owner to log in: they say /mcp login ${this.server.name}.`;
    return `The tool server ${this.server.name} does not work now${why === null ? '' : `: it ${why}`}. It is started again by itself; do something else, or try once more later.`;
  }

  #become(state: ServerState['state'], detail: string | null): void {
    this.#state = { state, detail };
    this.#options.onChange();
  }
}

type Fault = { readonly kind: ToolFaultKind; readonly message: string };

const failed = (message: string): Fault => ({ kind: 'failed', message });
const unknown = (message: string): Fault => ({ kind: 'unknown', message });

function sentence(error: unknown): string {
  const problem = connectionProblem(error);
  if (problem !== null) return problem;
  if (error instanceof McpError && error.code === ErrorCode.RequestTimeout) return 'no answer came';
  const text = error instanceof Error ? error.message : String(error);
  const cause =
    error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${text}${cause}`.replace(/\s+/g, ' ').slice(0, 300);
}
