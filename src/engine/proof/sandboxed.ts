import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { execa } from 'execa';
import { bubblewrapArgs, findBubblewrap } from './bubblewrap.ts';
import type { Command } from './command.ts';

const MAX_OUTPUT_CHARS = 1024 * 1024;
/** The time of a command, in milliseconds, where nothing else is said. */
export const COMMAND_MS = 120_000;
/** Folders of commands, after the project's packages and the folder of Node. */
export const SYSTEM_PATH = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'];

/** The calling process's environment; nothing else of it is passed on. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type SandboxedOptions = {
  /** The project, which the command must not see. */
  readonly root: string;
  /** The packages it may use, read-only; null for none. */
  readonly nodeModules: string | null;
  readonly environment: Environment;
  /** Kills the command when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** 120 s by default. */
  readonly timeoutMs?: number;
};

export type SandboxedRun = {
  readonly isOk: boolean;
  /** It was killed at the end of its time. */
  readonly isTimedOut: boolean;
  /** Standard output and error as they came, at most the last megabyte. */
  readonly output: string;
  /** Set when the command ran without bubblewrap. */
  readonly warning: string | null;
};

export const UNSANDBOXED =
  'Checks and tests ran without a sandbox, with your rights. Install bubblewrap to confine them.';

/**
 * Runs a command in a view: without network, home folder, environment or sight of the project
 * where bubblewrap works, plainly with a scrubbed environment and a warning elsewhere. Never
 * rejects because the command fails; at the end of its time the whole process group is killed.
 */
export async function runSandboxed(
  view: string,
  command: Command,
  options: SandboxedOptions,
): Promise<SandboxedRun> {
  const bubblewrap = await findBubblewrap(options.environment['PATH'] ?? '');
  const nodeFolder = dirname(realpathSync(process.execPath));
  const path = [join(view, 'node_modules/.bin'), nodeFolder, ...SYSTEM_PATH].join(delimiter);
  const language = options.environment['LANG'] ?? 'C.UTF-8';
  const env = { PATH: path, LANG: language, CI: '1', NODE_ENV: 'test', NO_COLOR: '1' };
  const limits = { timeoutMs: options.timeoutMs ?? COMMAND_MS, signal: options.signal };
  const { file, args } = command;
  if (bubblewrap === null) {
    const home = `${view}.home`;
    mkdirSync(home, { recursive: true });
    linkPackages(view, options.nodeModules);
    const outcome = await run({ file, args, cwd: view, env: { ...env, HOME: home }, ...limits });
    rmSync(home, { recursive: true, force: true });
    return { ...outcome, warning: UNSANDBOXED };
  }
  const home = options.environment['HOME'];
  const visible = {
    view,
    nodeModules: options.nodeModules,
    nodeFolder,
    hidden: [options.root, home ?? '']
      .filter((path) => existsSync(path))
      .map((path) => realpathSync(path)),
  };
  const outcome = await run({
    file: bubblewrap,
    args: ['--info-fd', String(INFO_FD), ...bubblewrapArgs(visible), '--', file, ...args],
    cwd: view,
    env: { ...env, ...compiledCode(view, options.nodeModules), HOME: '/tmp/home' },
    tellsPid: true,
    ...limits,
  });
  return { ...outcome, warning: null };
}

/** Code that Node compiled before, in the folder of the packages. */
const COMPILED = '.cache/patchclaw/proof';

/**
 * Lets Node take code that was compiled before from the packages, where there is some. These are read-only in
 * bubblewrap, so a test finds nothing there that another one has left; without bubblewrap Node gets none.
 */
function compiledCode(view: string, nodeModules: string | null): Readonly<Record<string, string>> {
  if (nodeModules === null || !existsSync(join(nodeModules, COMPILED))) return {};
  const place = join(view, 'node_modules', COMPILED);
  // By paths from there: the view is at another place each time.
  return { NODE_COMPILE_CACHE: place, NODE_COMPILE_CACHE_PORTABLE: '1' };
}

function linkPackages(view: string, nodeModules: string | null): void {
  const place = join(view, 'node_modules');
  if (nodeModules !== null && !existsSync(place)) symlinkSync(nodeModules, place);
}

type Program = Command & {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** It writes the id of the process that all of its own are below to INFO_FD. */
  readonly tellsPid?: boolean;
};

const INFO_FD = 3;

async function run(program: Program): Promise<Omit<SandboxedRun, 'warning'>> {
  const child = execa(program.file, program.args, {
    cwd: program.cwd,
    env: program.env,
    extendEnv: false,
    stdio: ['ignore', 'pipe', 'pipe', ...(program.tellsPid ? (['pipe'] as const) : [])],
    all: true,
    buffer: false,
    detached: true,
    reject: false,
  });
  const output = tail(child.all);
  const inner = program.tellsPid ? pidIn(child.nodeChildProcess.stdio[INFO_FD]) : null;
  const stop = async () => {
    // bubblewrap that is killed at its start leaves behind what it has just begun, outside of its group.
    const pid = await inner;
    if (pid !== null) kill(pid);
    if (child.pid !== undefined) kill(-child.pid);
  };
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    void stop();
  }, program.timeoutMs);
  // Kills processes that the command left running: they would keep its pipes open.
  child.nodeChildProcess.once('exit', () => child.pid !== undefined && kill(-child.pid));
  const onAbort = () => void stop();
  program.signal?.addEventListener('abort', onAbort);
  if (program.signal?.aborted) onAbort();
  const result = await child;
  clearTimeout(timer);
  program.signal?.removeEventListener('abort', onAbort);
  const note = isTimedOut
    ? `\nKilled after ${program.timeoutMs / 1000} s.`
    : 'code' in result && result.code === 'ENOENT'
      ? `\n${program.file} was not found.`
      : '';
  return {
    isOk: result.exitCode === 0 && !isTimedOut,
    isTimedOut,
    output: `${output()}${note}`.trim(),
  };
}

/** Returns the last megabyte of a stream, as text. */
function tail(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  let isCut = false;
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text += chunk;
    if (text.length <= 2 * MAX_OUTPUT_CHARS) return;
    text = text.slice(-MAX_OUTPUT_CHARS);
    isCut = true;
  });
  return () => `${isCut ? '(the beginning was cut)\n' : ''}${text.slice(-MAX_OUTPUT_CHARS)}`;
}

/** Reads the process id from what bubblewrap tells of itself; null where it ends without a word. */
function pidIn(stream: unknown): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  if (!(stream instanceof Readable)) return Promise.resolve(null);
  let text = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    text += chunk;
    const pid = /"child-pid": *(\d+)/.exec(text)?.[1];
    if (pid !== undefined) resolve(Number(pid));
  });
  stream.on('close', () => resolve(null));
  return promise;
}

/** Kills a process, or with a negative number a group. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
