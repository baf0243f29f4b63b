import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { release, totalmem } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { execa } from 'execa';
import { DEFAULT_LIMITS, type ProofLimits } from '../installed/config.ts';
import { bubblewrapArgs, findBubblewrap } from './bubblewrap.ts';
import { watchCommand } from './command-watch.ts';
import type { Stop } from './limits.ts';
import type { Command } from './shell-command.ts';

const MAX_OUTPUT_CHARS = 1024 * 1024;
/** Folders of commands, searched after the project's packages and Node's folder. */
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
  readonly limits?: ProofLimits | undefined;
  /** Room that the files of the view took when it was laid out; by default it is counted. */
  readonly viewBytes?: number | undefined;
  /** The number of things that the command does in one go, such as tests of skills: each adds to its CPU time. */
  readonly parts?: number | undefined;
  /** The caller's budget of time; by default there is none. */
  readonly timeoutMs?: number | undefined;
  /** Is called with what it prints, as it comes. */
  readonly onOutput?: ((text: string) => void) | undefined;
};

export type SandboxedRun = {
  readonly isOk: boolean;
  /** The limit at which it was stopped; null where it ended by itself. */
  readonly stop: Stop | null;
  /** Standard output and error as they came, at most the last megabyte. */
  readonly output: string;
  /** Set when the command ran without bubblewrap. */
  readonly warning: string | null;
};

export const UNSANDBOXED =
  'Checks and tests ran without a sandbox, with your rights. Install bubblewrap to confine them.';

/**
 * Runs a command in a view. With bubblewrap it has no network, home folder, environment or sight of the project;
 * otherwise it runs with a cleaned environment and a warning. Never rejects because the command fails; at a limit,
 * everything that it started is killed.
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
  const limits = options.limits ?? DEFAULT_LIMITS;
  const { parts = 1, timeoutMs = null, viewBytes = null, signal, onOutput } = options;
  const watched = { view, limits, parts, timeoutMs, viewBytes, signal, onOutput };
  if (bubblewrap === null) {
    const home = `${view}.home`;
    mkdirSync(home, { recursive: true });
    linkPackages(view, options.nodeModules);
    const confined = underLimits(command, limits, { isAlone: false });
    const outcome = await run({ ...confined, cwd: view, env: { ...env, HOME: home }, ...watched });
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
    scratchBytes: bubblewrap.hasSizes ? scratchBytes(limits) : null,
  };
  const { file, args } = underLimits(command, limits, { isAlone: true });
  const outcome = await run({
    file: bubblewrap.file,
    args: ['--info-fd', String(INFO_FD), ...bubblewrapArgs(visible), '--', file, ...args],
    cwd: view,
    env: { ...env, ...compiledCode(view, options.nodeModules), HOME: '/tmp/home' },
    tellsPid: true,
    ...watched,
  });
  return { ...outcome, warning: null };
}

/** Room in each scratch folder in memory: the watch stops a command before it is full. */
function scratchBytes({ disk_mb: disk }: ProofLimits): number {
  return Math.floor(Math.min(disk * 2 * MB, totalmem() / 2));
}

const MB = 1024 * 1024;
const BLOCKS_PER_MB = 2048;

/**
 * Returns a command that first takes on what the kernel itself holds it to. These are a backstop at twice the
 * figures, for what happens between two looks of the watch, which tells the owner which limit it was.
 *
 * If memory runs out, the kernel ends this command before any other program. A number of processes counts for one
 * user in a namespace of users: without such a namespace it would count everything that the owner runs.
 */
function underLimits(
  { file, args }: Command,
  { disk_mb: disk, processes }: ProofLimits,
  { isAlone }: { readonly isAlone: boolean },
): Command {
  const lines = [
    '[ -w /proc/self/oom_score_adj ] && echo 1000 2>/dev/null >/proc/self/oom_score_adj',
    `ulimit -f ${disk * 2 * BLOCKS_PER_MB}`,
    // dash calls it p, other shells u; a letter that is unknown ends dash.
    ...(isAlone && countsPerNamespace()
      ? [
          `for o in u p; do (ulimit -$o ${processes * 2}) 2>/dev/null && ulimit -$o ${processes * 2} && break; done`,
        ]
      : []),
    'exec "$@"',
  ];
  return { file: 'sh', args: ['-c', lines.join('\n'), 'sh', file, ...args] };
}

/** Tells whether the kernel counts the processes of a namespace of users apart, as Linux does from 5.14 on. */
function countsPerNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 14));
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
  if (nodeModules !== null && !existsSync(place)) linkFolder(nodeModules, place);
}

/**
 * Links a folder of packages; one that holds links itself is made anew, with these links as they are. A package of the
 * tree, such as a workspace, is linked by a relative path, and so leads to the view's own and not to the project's.
 */
function linkFolder(from: string, to: string): void {
  const entries = readdirSync(from, { withFileTypes: true });
  const isScope = (name: string) => name.startsWith('@');
  const holdsLinks = (folder: string) =>
    readdirSync(folder, { withFileTypes: true }).some((entry) => entry.isSymbolicLink());
  const isMade = entries.some(
    (entry) =>
      entry.isSymbolicLink() ||
      (entry.isDirectory() && isScope(entry.name) && holdsLinks(join(from, entry.name))),
  );
  if (!isMade) {
    symlinkSync(from, to);
    return;
  }
  mkdirSync(to);
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else if (entry.isDirectory() && isScope(entry.name)) linkFolder(source, target);
    else symlinkSync(source, target);
  }
}

type Program = Command & {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly view: string;
  readonly limits: ProofLimits;
  readonly viewBytes: number | null;
  readonly parts: number;
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal | undefined;
  readonly onOutput: SandboxedOptions['onOutput'];
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
  const inner = program.tellsPid ? pidIn(child.nodeChildProcess.stdio[INFO_FD]) : null;
  const kill = async () => {
    // bubblewrap that is killed at its start leaves behind what it has just begun, outside of its group.
    const pid = await inner;
    if (pid !== null) killProcess(pid);
    if (child.pid !== undefined) killProcess(-child.pid);
  };
  const watch = watchCommand({ ...program, pid: child.pid, inner, kill });
  const output = tail(child.all, (text) => {
    watch.hasPrinted();
    program.onOutput?.(text);
  });
  // Kills processes that the command left running: they would keep its pipes open.
  child.nodeChildProcess.once('exit', () => {
    if (child.pid !== undefined) killProcess(-child.pid);
  });
  const onAbort = () => void kill();
  program.signal?.addEventListener('abort', onAbort);
  if (program.signal?.aborted) onAbort();
  const result = await child;
  program.signal?.removeEventListener('abort', onAbort);
  const stop = await watch.end();
  const isKilled = result.signal === 'SIGKILL' || result.exitCode === 128 + SIGKILL;
  const note =
    stop !== null
      ? `\nStopped. ${stop.text}`
      : isKilled && program.signal?.aborted !== true
        ? '\nKilled by the system, as it does if memory runs out.'
        : '';
  return {
    isOk: result.exitCode === 0 && stop === null,
    stop,
    output: `${output()}${note}`.trim(),
  };
}

const SIGKILL = 9;

/** Returns the last megabyte of a stream, as text. */
function tail(stream: NodeJS.ReadableStream, onText: (text: string) => void): () => string {
  let text = '';
  let isCut = false;
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    onText(chunk);
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
function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
