import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { DetectedSource } from './imported-items.ts';

/** What runs on this machine, as far as it can be seen. */
export type SystemView = {
  readonly processes: readonly RunningProcess[];
  /** Active services and timers of systemd or launchd, by name. */
  readonly units: readonly string[];
  readonly containers: readonly string[];
};

export type RunningProcess = {
  readonly pid: number;
  readonly command: string;
  /** Its working folder; null where that cannot be seen. */
  readonly folder: string | null;
  readonly openFiles: readonly string[];
};

/** Something of the source that runs, and the command that stops it. */
export type StillRunning = { readonly what: string; readonly stop: string };

/**
 * Finds the running parts of a source: a unit, a container, or a process in its folder or with its store open. Pure.
 */
export function findRunning(
  source: Pick<DetectedSource, 'units' | 'containerPrefixes' | 'commands' | 'storeFiles'>,
  root: string,
  { units, containers, processes }: SystemView,
): readonly StillRunning[] {
  const isUnit = (name: string) =>
    source.units.some((pattern) => pattern.test(name.replace(/\.(service|timer)$/, '')));
  const isInside = (folder: string | null) =>
    folder !== null && (folder === root || folder.startsWith(`${root}/`));
  const isTheirs = ({ command, folder, openFiles }: RunningProcess) =>
    openFiles.some((path) => source.storeFiles.includes(path)) ||
    source.commands.some((pattern) => pattern.test(command)) ||
    (isInside(folder) && /^(\S*\/)?(node|bun|deno|python[\d.]*|npm|tsx)\b/.test(command));
  return [
    ...units.filter(isUnit).map((name) => ({ what: `the unit ${name}`, stop: stopUnit(name) })),
    ...containers
      .filter((name) => source.containerPrefixes.some((prefix) => name.startsWith(prefix)))
      .map((name) => ({ what: `the container ${name}`, stop: `docker stop ${name}` })),
    ...processes.filter(isTheirs).map(({ pid, command }) => ({
      what: `process ${pid} (${command.slice(0, 60)})`,
      stop: `kill ${pid}`,
    })),
  ];
}

function stopUnit(name: string): string {
  return /\.(service|timer)$/.test(name)
    ? `systemctl --user disable --now ${name}`
    : `launchctl bootout gui/$(id -u)/${name}`;
}

/** Reads the state of this machine: /proc, systemd or launchd, and Docker, each if available. */
export function lookAtSystem(): SystemView {
  return { processes: processesHere(), units: unitsHere(), containers: containersHere() };
}

function processesHere(): readonly RunningProcess[] {
  if (process.platform !== 'linux') return processesByPs();
  return namesIn('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      if (command === '') return [];
      const open = namesIn(`/proc/${pid}/fd`).flatMap(
        (fd) => linkOf(`/proc/${pid}/fd/${fd}`) ?? [],
      );
      return [{ pid, command, folder: linkOf(`/proc/${pid}/cwd`), openFiles: open }];
    } catch {
      return []; // It has ended meanwhile, or is another user's.
    }
  });
}

function processesByPs(): readonly RunningProcess[] {
  return output('ps', ['-axo', 'pid=,command='])
    .split('\n')
    .flatMap((line) => {
      const [, pid, command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
      return pid === undefined ? [] : [{ pid: Number(pid), command, folder: null, openFiles: [] }];
    });
}

function unitsHere(): readonly string[] {
  const systemd = [['--user'], ['--system']].flatMap((scope) =>
    output('systemctl', [
      ...scope,
      'list-units',
      '--type=service,timer',
      '--state=active,activating',
      '--plain',
      '--no-legend',
    ])
      .split('\n')
      .flatMap((line) => line.trim().split(/\s+/)[0] || []),
  );
  const launchd =
    process.platform === 'darwin'
      ? output('launchctl', ['list'])
          .split('\n')
          .flatMap((line) => line.split('\t')[2] ?? [])
      : [];
  return [...systemd, ...launchd];
}

function containersHere(): readonly string[] {
  return output('docker', ['ps', '--format', '{{.Names}}'])
    .split('\n')
    .filter((name) => name !== '');
}

/** The output of a program; nothing where there is no such program, or nothing for it to look at. */
function output(program: string, args: readonly string[]): string {
  const { stdout } = spawnSync(program, args, { encoding: 'utf8', timeout: 10_000 });
  return stdout ?? '';
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // Another user's, or gone.
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null; // Another user's, or closed meanwhile.
  }
}

/** Returns a folder by the path that processes are shown with. */
export function realFolder(path: string): string {
  return realpathSync(join(path));
}
