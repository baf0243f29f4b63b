import { type ChildProcess, spawn } from 'node:child_process';
import { lstat, readlink } from 'node:fs/promises';
import { execa } from 'execa';
import type { Program } from '../../../lib/program.ts';
import { EXTRA } from '../../mounts/extra-mounts.ts';
import type { AgentUser } from '../../mounts/ownership.ts';
import { endpointVariables } from '../../protocol/endpoint.ts';
import {
  AGENT_NODE_FLAGS,
  type Container,
  type ContainerSpec,
  type Engine,
  EngineUnusable,
  type ProgramContainerSpec,
} from '../engine.ts';

/** bwrap and what it starts are looked up here; the agent's own environment is made from nothing. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const NODE = '/opt/claw/node';
/** Folders that only hold mounts; bwrap would make them for root alone where a file is mounted. */
const PARENTS = ['/etc', '/opt/claw', '/home/node', '/run', '/workspace', '/workspace/project'];
const TMP_BYTES = 64 * 1_048_576;
const BASIC_VARIABLES = { HOME: '/home/node', PATH: `/opt/claw:${SYSTEM_PATH}` };
/** Files by which programs find other machines, and know which of them to trust. */
const NETWORK_FILES = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/ssl'];

export type BubblewrapParts = {
  readonly user: AgentUser;
  /** The host is root, and gives the agent a user of its own. */
  readonly isRoot: boolean;
  /** The host's own Node, which the agent runs on as well. */
  readonly nodePath: string;
};

/**
 * Runs agents under bubblewrap: the same mounts at the same paths as a container, no network, no other
 * processes to see. It has no limits of its own; `prlimit` sets some per process.
 *
 * @throws EngineUnusable when bwrap is missing or the system does not let it work
 */
export async function openBubblewrap(parts: BubblewrapParts): Promise<Engine> {
  const version = await bwrapVersion();
  const system = await systemMounts();
  const hasLimits = await isInstalled('prlimit');
  const isolated = await workingIsolation(parts, system);
  const prepare = (spec: ContainerSpec) => [
    ...isolated.namespaces,
    ...system,
    ...filesystem(spec, parts.nodePath),
    ...(hasLimits ? limits(spec, parts) : []),
    ...isolated.identity,
  ];
  const prepareProgram = (spec: ProgramContainerSpec) => [
    ...(spec.hasNetwork ? withNetwork(isolated.namespaces) : isolated.namespaces),
    ...system,
    ...programFilesystem(spec, parts.nodePath),
    ...(hasLimits ? limits(spec, parts) : []),
    ...isolated.identity,
  ];
  return {
    name: 'bubblewrap',
    description: `bubblewrap ${version}, ${hasLimits ? 'limits per process only' : 'without limits'}`,
    startContainer: async (spec) =>
      startBwrap([...prepare(spec), NODE, ...AGENT_NODE_FLAGS, '/opt/claw/agent.mjs']),
    startProgram: (spec) => startProgram([...prepareProgram(spec), ...spec.command]),
  };
}

async function bwrapVersion(): Promise<string> {
  const asked = await execa('bwrap', ['--version'], { reject: false });
  if (asked.exitCode !== 0) throw new EngineUnusable('bwrap is not installed.');
  return asked.stdout.replace(/^\D+/, '').trim();
}

async function isInstalled(program: string): Promise<boolean> {
  const asked = await execa(program, ['--version'], { reject: false });
  return asked.exitCode === 0;
}

/** bwrap's options around the mounts: before them the namespaces, after them who the agent is. */
type Isolation = { readonly namespaces: readonly string[]; readonly identity: readonly string[] };

/**
 * Returns the strictest isolation that works here. An old bwrap, or one outside the mounted system
 * folders, cannot forbid namespaces inside the sandbox; the agent then runs without that.
 *
 * @throws EngineUnusable where namespaces cannot be made at all, as in most containers
 */
async function workingIsolation(
  parts: BubblewrapParts,
  system: readonly string[],
): Promise<Isolation> {
  let reason = '';
  for (const isolated of [closedIsolation(parts), plainIsolation(parts)]) {
    // A bwrap inside needs a /tmp to build its root in.
    const files = [...system, '--tmpfs', '/tmp'];
    const args = [...isolated.namespaces, ...files, ...isolated.identity, '/usr/bin/env', 'true'];
    const tried = await execa('bwrap', args, { reject: false, env: { PATH: SYSTEM_PATH } });
    if (tried.exitCode === 0) return isolated;
    reason = tried.stderr.trim();
  }
  throw new EngineUnusable(`bwrap does not work here: ${reason || 'no reason given'}`);
}

function plainIsolation(parts: BubblewrapParts): Isolation {
  return { namespaces: isolation(parts), identity: identity(parts) };
}

/**
 * The agent cannot make user namespaces, in which it would be root to more of the kernel. bwrap
 * forbids them only in a user namespace of its own: root's agent gets one inside, as its own user.
 */
function closedIsolation(parts: BubblewrapParts): Isolation {
  const { namespaces, identity: user } = plainIsolation(parts);
  // `--unshare-all` takes a user namespace only if it gets one, and that is not enough for the second option.
  const closed = ['--unshare-user', '--disable-userns'];
  if (!parts.isRoot) return { namespaces: [...namespaces, ...closed], identity: user };
  const inner = ['bwrap', ...closed, '--dev-bind', '/', '/'];
  return { namespaces, identity: [...user, ...inner, '--'] };
}

/**
 * Root takes no user namespace, because one maps a single user: the agent would be root to every file
 * that is mounted. It changes to the agent's user inside instead, see {@link identity}.
 */
function isolation({ isRoot }: BubblewrapParts): string[] {
  const namespaces = isRoot
    ? ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try']
    : ['--unshare-all', '--uid', '1000', '--gid', '1000'];
  const privileges = isRoot ? ['--cap-drop', 'ALL', ...keep('CAP_SETUID', 'CAP_SETGID')] : [];
  return [...namespaces, ...privileges, '--die-with-parent', '--new-session', '--clearenv'];
}

function keep(...capabilities: string[]): string[] {
  return capabilities.flatMap((capability) => ['--cap-add', capability]);
}

/** Returns the system's programs and libraries, with the links that merged-/usr systems have at the top. */
async function systemMounts(): Promise<string[]> {
  const args = [...PARENTS.flatMap((path) => ['--dir', path]), '--ro-bind', '/usr', '/usr'];
  for (const path of ['/bin', '/sbin', '/lib', '/lib32', '/lib64']) {
    const found = await lstat(path).catch(() => null);
    if (found?.isSymbolicLink()) args.push('--symlink', await readlink(path), path);
    else if (found !== null) args.push('--ro-bind', path, path);
  }
  for (const path of ['/etc/alternatives', '/etc/ld.so.cache']) {
    args.push('--ro-bind-try', path, path);
  }
  return [...args, '--proc', '/proc', '--dev', '/dev'];
}

function filesystem(spec: ContainerSpec, nodePath: string): string[] {
  return [
    ...files(spec.mounts, nodePath),
    ...variables({
      ...BASIC_VARIABLES,
      ...(spec.timeZone === undefined ? {} : { TZ: spec.timeZone }),
      ...endpointVariables(spec.endpoint),
    }),
    ...['--chdir', '/workspace/group'],
  ];
}

function programFilesystem(spec: ProgramContainerSpec, nodePath: string): string[] {
  const network = spec.hasNetwork ? NETWORK_FILES : [];
  return [
    ...network.flatMap((path) => ['--ro-bind-try', path, path]),
    ...files(spec.mounts, nodePath),
    ...variables({ ...spec.environment, ...BASIC_VARIABLES }),
    ...['--chdir', '/home/node'],
  ];
}

function files(mounts: ContainerSpec['mounts'], nodePath: string): string[] {
  const hasExtra = mounts.some(({ target }) => target.startsWith(EXTRA));
  return [
    ...['--perms', '1777', '--size', String(TMP_BYTES), '--tmpfs', '/tmp'],
    ...(hasExtra ? ['--dir', EXTRA] : []),
    ...mounts.flatMap(({ source, target, isWritable }) => [
      isWritable ? '--bind' : '--ro-bind',
      source,
      target,
    ]),
    ...['--ro-bind', nodePath, NODE],
    ...['--remount-ro', '/'],
  ];
}

function variables(named: Readonly<Record<string, string>>): string[] {
  return Object.entries(named).flatMap((pair) => ['--setenv', ...pair]);
}

/** Leaves the network of the machine to a program that may reach it. */
function withNetwork(namespaces: readonly string[]): string[] {
  return namespaces.flatMap((option) => {
    if (option === '--unshare-net') return [];
    return option === '--unshare-all' ? [option, '--share-net'] : [option];
  });
}

function limits(spec: Pick<ContainerSpec, 'limits'>, { isRoot }: BubblewrapParts): string[] {
  // Without a user namespace the kernel counts all processes of that user, ours or not.
  const processes = isRoot ? spec.limits.processes * 8 : spec.limits.processes;
  return ['prlimit', `--nproc=${processes}`, `--data=${spec.limits.memoryBytes}`, '--core=0'];
}

function identity({ isRoot, user }: BubblewrapParts): string[] {
  if (!isRoot) return [];
  const ids = [`--reuid=${user.uid}`, `--regid=${user.gid}`];
  return ['setpriv', ...ids, '--clear-groups', '--inh-caps=-all'];
}

function startBwrap(args: readonly string[]): Promise<Container> {
  const child = spawn('bwrap', args, {
    env: { PATH: SYSTEM_PATH },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = endOf(child);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () =>
      resolve({
        id: `bwrap-${child.pid}`,
        ended,
        async stop() {
          // Everything inside dies with it: bwrap is its first process, and --die-with-parent is set.
          child.kill('SIGKILL');
          await ended;
        },
      }),
    );
  });
}

function startProgram(args: readonly string[]): Promise<Program> {
  // In a group of its own: killed before it has set --die-with-parent inside, bwrap would leave a child behind.
  const options = { env: { PATH: SYSTEM_PATH }, stdio: 'pipe', detached: true } as const;
  const child = spawn('bwrap', args, options);
  const ended = endOf(child);
  // A program that is gone reads nothing more, which its end tells.
  child.stdin.on('error', () => {});
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () =>
      resolve({
        stdin: child.stdin,
        stdout: child.stdout,
        stderr: child.stderr,
        ended,
        async stop() {
          killGroup(child);
          // Unread output would keep the end back.
          child.stdout.destroy();
          child.stderr.destroy();
          await ended;
        },
      }),
    );
  });
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended since, which is what was wanted.
  }
}

/** Waits for the end of a process; the last line on stderr explains an end that was not asked for. */
async function endOf(child: ChildProcess): Promise<string> {
  let lastWords = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    lastWords = `${lastWords}${chunk}`.slice(-2_000);
  });
  return new Promise((resolve) => {
    child.once('close', (exitCode, signal) => {
      const line = lastWords.trim().split('\n').at(-1) ?? '';
      resolve(exitCode === null ? `signal ${signal}` : `exit code ${exitCode} ${line}`.trim());
    });
    child.once('error', (error) => resolve(error.message));
  });
}
