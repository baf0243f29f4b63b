import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { ClawError } from '@patchclaw/claw/cli';
import { unitCommand, unitWord } from '../../lib/unit-words.ts';

export type ServiceRequest = {
  /** The installation, whose supervisor is started. */
  readonly home: string;
  readonly dataDir: string;
  readonly name: string;
  readonly isSystem: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly uid: number;
};

type ManagerCall = readonly [program: string, ...args: string[]];

/** A service in the form that its manager needs: a file, and the commands for the manager. */
export type ServiceDefinition = {
  readonly path: string;
  readonly text: string;
  /** The line of the text that says which installation it is of. */
  readonly identity: string;
  /** Makes the manager know a new file, so that it is started with the machine or at log-in. */
  readonly enable: readonly ManagerCall[];
  readonly start: ManagerCall;
  readonly stop: ManagerCall;
  /** Stops it and makes the manager forget it, before the file is removed. */
  readonly disable: readonly ManagerCall[];
  readonly forget: readonly ManagerCall[];
  /** Its state in a word on stdout. */
  readonly ask: ManagerCall;
  /** Further advice for the owner. */
  readonly hints: readonly string[];
};

/** @throws ClawError USAGE where no manager of services is known, or a system's wants root */
export function definitionOf(request: ServiceRequest): ServiceDefinition {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(request.name)) {
    throw new ClawError('USAGE', 'A service is named by letters, digits, dots and dashes.');
  }
  if (request.platform === 'linux') return systemd(request);
  if (request.platform === 'darwin') return launchd(request);
  throw new ClawError(
    'USAGE',
    `Services are known of systemd and of launchd, and this is ${request.platform}. Let your own start \`npm start -- --service\` in ${request.home}.`,
  );
}

function systemd(request: ServiceRequest): ServiceDefinition {
  const { home, name, isSystem, environment } = request;
  const unit = `${name}.service`;
  const scope = isSystem ? [] : ['--user'];
  const say = (...words: readonly string[]): ManagerCall => ['systemctl', ...scope, ...words];
  const owner = statSync(home).uid;
  const config = environment['XDG_CONFIG_HOME'] || join(homeOf(environment), '.config');
  const folder = isSystem ? '/etc/systemd/system' : join(config, 'systemd/user');
  const options = { isSystem, user: isSystem && owner !== 0 ? owner : null, version: version() };
  const text = systemdUnit(findServiceParts(home, environment['PATH'] ?? ''), options);
  return {
    path: join(folder, unit),
    text: stamped(text, '#'),
    identity: lineWith('Description=', text),
    enable: [say('daemon-reload'), say('enable', unit)],
    start: say('restart', unit),
    stop: say('stop', unit),
    disable: [say('disable', '--now', unit)],
    forget: [say('daemon-reload')],
    ask: say('is-active', unit),
    hints: isSystem
      ? []
      : ['`loginctl enable-linger` once lets it run while you are not logged in.'],
  };
}

/** The first systemd that waits longer from one restart to the next. */
const WITH_STEPS = 254;

/**
 * Returns the unit of systemd that keeps the assistant running.
 *
 * @param user the numeric user that a unit of the whole system runs as; null for one of the user's own
 * @param version systemd's, where it is known: an older one warns of what it does not know
 */
export function systemdUnit(
  parts: ServiceParts,
  { isSystem, user, version }: { isSystem: boolean; user: number | null; version: number | null },
): string {
  const { node, anyNode, prepare, start, path, home } = parts;
  const backoff =
    version !== null && version >= WITH_STEPS
      ? ['RestartSec=5', 'RestartSteps=6', 'RestartMaxDelaySec=5min']
      : ['RestartSec=30'];
  return lines(
    '[Unit]',
    `Description=Patchclaw, the assistant in ${plainInUnit(home)}`,
    ...(isSystem
      ? ['Wants=network-online.target', 'After=network-online.target docker.service']
      : []),
    '# It never gives up: what keeps the assistant down may be a disk that is full, or a mistake in .env.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    ...(user === null ? [] : [`User=${user}`]),
    `Environment=${unitWord(`PATH=${path}`)}`,
    '# Finishes what a power cut left of a command, and installs what is missing.',
    `ExecStartPre=-${unitCommand(anyNode, prepare)}`,
    `ExecStart=${unitCommand(node, start, '--service')}`,
    'StandardInput=null',
    'Restart=on-failure',
    ...backoff,
    'TimeoutStartSec=15min',
    '# Only the supervisor is told; it lets the turn in progress end within ten seconds.',
    'KillMode=mixed',
    'TimeoutStopSec=20',
    "# An agent that takes too much memory is the agent's end alone.",
    'OOMPolicy=continue',
    '# No PrivateTmp, ProtectProc or ProtectKernelTunables: with them, Docker does not find the groups’',
    '# sockets, and bubblewrap may not mount /proc. Agents are confined by their containers.',
    ...(isSystem ? ['ProtectSystem=full', 'RestrictRealtime=yes'] : []),
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
  );
}

function plainInUnit(text: string): string {
  return text.replace(/[\x00-\x1f\x7f\\]/g, ' ').replaceAll('%', '%%');
}

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}

const STAMP = 'Made by claw service install. Change it as you like: then it is kept.';

/**
 * Returns the text with a digest of itself in a comment, so that edits by the owner are noticed.
 *
 * @param comment how a comment begins in that kind of file
 */
export function stamped(text: string, comment: '#' | '<!--'): string {
  const end = comment === '#' ? '' : ' -->';
  return `${text}${comment} ${STAMP} ${digestOf(text)}${end}\n`;
}

/** Tells whether a file is as this or another version of claw wrote it. */
export function isUntouched(file: string): boolean {
  const at = file.trimEnd().lastIndexOf('\n') + 1;
  const digest = /sha256:[0-9a-f]{64}/.exec(file.slice(at))?.[0];
  return digest === digestOf(file.slice(0, at));
}

function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** Paths that a service is made of, all absolute. */
type ServiceParts = {
  /** The installation. */
  readonly home: string;
  /** The pinned Node. */
  readonly node: string;
  /** A Node outside the packages, which is there also while those are half replaced. */
  readonly anyNode: string;
  readonly prepare: string;
  readonly start: string;
  /** The service's `PATH`, on which it finds Docker, bubblewrap, git and npm. */
  readonly path: string;
};

/** @param searchPath of the shell that installs; npm's own folders are left out, which vanish with the packages */
function findServiceParts(home: string, searchPath: string): ServiceParts {
  const pinned = join(home, 'node_modules/node/bin/node');
  const node = existsSync(pinned) ? pinned : process.execPath;
  const folders = [...new Set(searchPath.split(':'))].filter(
    (folder) => isAbsolute(folder) && !/\/node_modules\/|\/node-gyp-bin/.test(`${folder}/`),
  );
  const other = folders.map((folder) => join(folder, 'node')).find(isExecutable);
  return {
    home,
    node,
    anyNode: other ?? node,
    prepare: join(home, 'scripts/prepare.js'),
    start: join(home, 'src/supervisor/entry.js'),
    path: folders.join(':'),
  };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not to be run.
  }
}

function launchd({ home, dataDir, name, isSystem, environment, uid }: ServiceRequest) {
  if (isSystem) {
    throw new ClawError(
      'USAGE',
      'On macOS the assistant runs as your own service, not the system’s.',
    );
  }
  const path = join(homeOf(environment), 'Library/LaunchAgents', `${name}.plist`);
  const log = join(dataDir, 'logs/service.log');
  const parts = findServiceParts(home, environment['PATH'] ?? '');
  const domain = `gui/${uid}`;
  const stop = ['launchctl', 'bootout', `${domain}/${name}`] as const;
  const text = launchdPlist(parts, { label: name, log });
  return {
    path,
    text: stamped(text, '<!--'),
    identity: lineWith('start.ts</string>', text),
    enable: [],
    start: ['launchctl', 'bootstrap', domain, path],
    stop,
    disable: [stop],
    forget: [],
    ask: ['launchctl', 'print', `${domain}/${name}`],
    hints: [
      `What it prints goes to ${log}; a new file counts after \`launchctl bootout ${domain}/${name}\`.`,
    ],
  } satisfies ServiceDefinition;
}

function lineWith(part: string, text: string): string {
  return text.split('\n').find((line) => line.includes(part)) ?? text;
}

function homeOf(environment: ServiceRequest['environment']): string {
  const home = environment['HOME'];
  if (home) return home;
  throw new ClawError('USAGE', 'HOME is not set, so there is no place for a service of your own.');
}

/** Finishes what a power cut left, then becomes the supervisor, so that signals reach it. */
const LAUNCH_SCRIPT = '"$1" "$2"; exec "$3" "$4" --service';

/** Returns the property list with which launchd keeps the assistant running while its user is logged in. */
export function launchdPlist(parts: ServiceParts, { label, log }: { label: string; log: string }) {
  const { node, anyNode, prepare, start, path } = parts;
  const program = ['/bin/sh', '-c', LAUNCH_SCRIPT, 'sh', anyNode, prepare, node, start];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${plistString(label)}
  <key>ProgramArguments</key>
  <array>
${program.map((word) => `    ${plistString(word)}`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${plistString(path)}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>30</integer>
  <key>ExitTimeOut</key>
  <integer>20</integer>
  <key>StandardOutPath</key>
  ${plistString(log)}
  <key>StandardErrorPath</key>
  ${plistString(log)}
</dict>
</plist>
`;
}

function plistString(text: string): string {
  const entities = { '&': '&amp;', '<': '&lt;', '>': '&gt;' } as const;
  return `<string>${text.replace(/[&<>]/g, (one) => entities[one as keyof typeof entities])}</string>`;
}

/** Returns null where systemd does not run. */
function version(): number | null {
  const { stdout } = spawnSync('systemctl', ['--version'], { encoding: 'utf8' });
  const number = /^systemd (\d+)/.exec(stdout ?? '')?.[1];
  return number === undefined ? null : Number(number);
}
