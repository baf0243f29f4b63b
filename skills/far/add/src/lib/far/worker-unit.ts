import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { unitCommand, unitWord } from '../unit-words.ts';
import { FarRefused } from './far-state.ts';

/** Parts of the worker's service, all paths absolute. */
export type WorkerUnitParts = {
  readonly node: string;
  /** The program and its words, which run the worker. */
  readonly command: readonly string[];
  /** The shell's `PATH`, where Docker and bubblewrap are found; npm's own folders vanish with their packages. */
  readonly searchPath: string;
  /** A service of the whole machine, for root. */
  readonly isSystem: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

export const UNIT = 'patchclaw-worker.service';

/** Returns the unit of systemd that keeps the worker running. */
export function workerUnit({ node, command, searchPath, isSystem }: WorkerUnitParts): string {
  const folders = [...new Set(searchPath.split(':'))].filter(
    (folder) => isAbsolute(folder) && !/\/node_modules\/|\/node-gyp-bin/.test(`${folder}/`),
  );
  return [
    '[Unit]',
    'Description=Patchclaw worker: runs chats of another machine',
    ...(isSystem
      ? ['Wants=network-online.target', 'After=network-online.target docker.service']
      : []),
    '# It never gives up: the home may be away for days.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `Environment=${unitWord(`PATH=${folders.join(':')}`)}`,
    `ExecStart=${unitCommand(node, ...command)}`,
    'StandardInput=null',
    'Restart=on-failure',
    'RestartSec=30',
    '# It ends its containers first.',
    'KillMode=mixed',
    'TimeoutStopSec=60',
    "# An agent that takes too much memory is the agent's end alone.",
    'OOMPolicy=continue',
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
    '',
  ].join('\n');
}

/** Writes the unit, and returns what is left to say to systemd. @throws FarRefused where another file is there */
export function installWorkerUnit(parts: WorkerUnitParts): readonly string[] {
  const { isSystem, environment } = parts;
  const path = join(unitFolder(isSystem, environment), UNIT);
  const text = workerUnit(parts);
  if (existsSync(path) && readFileSync(path, 'utf8') !== text) {
    throw new FarRefused(
      `${path} is there and says something else. Remove it first, or edit it: \`--print\` shows the new text.`,
    );
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  const scope = isSystem ? '' : ' --user';
  return [
    `${path} is written. Now run:`,
    `  systemctl${scope} daemon-reload`,
    `  systemctl${scope} enable --now ${UNIT}`,
    ...(isSystem ? [] : ['  loginctl enable-linger   # once: it runs while you are logged out']),
  ];
}

function unitFolder(
  isSystem: boolean,
  { HOME, XDG_CONFIG_HOME }: WorkerUnitParts['environment'],
): string {
  if (isSystem) return '/etc/systemd/system';
  if (XDG_CONFIG_HOME) return join(XDG_CONFIG_HOME, 'systemd/user');
  if (HOME) return join(HOME, '.config/systemd/user');
  throw new FarRefused('HOME is not set, so there is no place for a service of your own.');
}
