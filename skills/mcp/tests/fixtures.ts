import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tool, ToolCall } from '../../../src/host/contracts/tool.ts';
import { configFile, readMcpConfig } from '../../../src/lib/mcp/config.ts';
import type { Program, StartProgram } from '../../../src/lib/program.ts';
import type { Network } from '../../../src/services/mcp/server-network.ts';
import { McpServers } from '../../../src/services/mcp/servers.ts';

export const SERVER = join(import.meta.dirname, 'stdio-server.ts');

/** Runs programs without a container: the proof has none. The sandbox's own tests are those of the core. */
export const runHere: StartProgram = async ({
  command: [program, ...args],
  environment,
  homeDir,
}) => {
  mkdirSync(homeDir, { recursive: true });
  const env = { PATH: process.env['PATH'], ...environment, HOME: homeDir };
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    env,
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    child.once('close', (code, signal) =>
      resolve(code === null ? `signal ${signal}` : `exit code ${code}`),
    );
    child.once('error', (error) => resolve(error.message));
  });
  const started: Program = {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    ended,
    async stop() {
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
      await ended;
    },
  };
  return started;
};

/** Timers that the test lets end. */
export class Timers {
  readonly waiting = new Map<number, { readonly ms: number; readonly end: () => void }>();
  #count = 0;

  readonly set = (ms: number, end: () => void): (() => void) => {
    this.#count += 1;
    const id = this.#count;
    this.waiting.set(id, { ms, end });
    return () => void this.waiting.delete(id);
  };

  /** Ends all that wait. @returns how long they would have waited */
  pass(): readonly number[] {
    const all = [...this.waiting.values()];
    this.waiting.clear();
    for (const { end } of all) end();
    return all.map(({ ms }) => ms);
  }
}

export type TestServers = AsyncDisposable & {
  readonly servers: McpServers;
  readonly dataDir: string;
  readonly timers: Timers;
  readonly logged: string[];
  write(config: unknown): void;
  /** Calls a tool as an agent of the group does. */
  call(
    name: string,
    input?: unknown,
    over?: Partial<ToolCall> & { readonly folder?: string },
  ): Promise<unknown>;
  tool(name: string): Tool;
};

/** Opens servers on a folder of their own, and connects those of the list. */
export async function openServers(
  mcpServers: Readonly<Record<string, unknown>>,
  over: {
    readonly variables?: Record<string, string>;
    readonly redirectUrl?: () => Promise<string>;
    readonly network?: Network;
    readonly now?: () => number;
  } = {},
): Promise<TestServers> {
  const dataDir = mkdtempSync(join(tmpdir(), 'claw-mcp-'));
  const logged: string[] = [];
  const log = (message: string, data: object = {}) =>
    void logged.push(`${message} ${JSON.stringify(data)}`);
  const timers = new Timers();
  const write = (config: unknown) => {
    mkdirSync(join(dataDir, 'mcp'), { recursive: true });
    writeFileSync(configFile(dataDir), JSON.stringify(config));
  };
  write({ mcpServers });
  const servers = new McpServers({
    dataDir,
    assistantName: 'Andy',
    log: { info: log, warn: log, error: log },
    now: over.now ?? Date.now,
    setTimer: timers.set,
    startProgram: runHere,
    redirectUrl: over.redirectUrl ?? (async () => 'http://127.0.0.1:1/mcp/callback'),
    readConfig: () => readMcpConfig(dataDir, over.variables ?? {}),
    ...(over.network === undefined ? {} : { network: over.network }),
  });
  await servers.reload();
  const tool = (name: string): Tool => {
    const found = servers.tools.find((one) => one.name === name);
    if (found === undefined)
      throw new Error(`no tool ${name}; there are ${servers.tools.map((one) => one.name)}`);
    return found;
  };
  return {
    servers,
    dataDir,
    timers,
    logged,
    write,
    tool,
    call: async (name, input = {}, { folder = 'main', ...call } = {}) =>
      await tool(name).run({ ...callOf(folder), ...call } as ToolCall, input),
    async [Symbol.asyncDispose]() {
      await servers.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

function callOf(folder: string): Partial<ToolCall> {
  const caller = {
    jid: 'terminal:main',
    folder,
    name: 'Main',
    needsTrigger: false,
    triggerWord: null,
    isMain: folder === 'main',
  };
  const ask = async () => ({ word: 'no', isAnswered: false });
  return { caller, ask, idempotencyKey: null, signal: new AbortController().signal };
}
