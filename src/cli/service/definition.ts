import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { ClawError } from '@patchclaw/claw/cli';
import { launchdPlist } from './launchd-plist.ts';
import { findServiceParts } from './parts.ts';
import { stamped } from './stamp.ts';
import { systemdUnit } from './systemd-unit.ts';

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

type Command = readonly [program: string, ...args: string[]];

/** A service as its manager wants it: a file, and what to say to the manager. */
export type ServiceDefinition = {
  readonly path: string;
  readonly text: string;
  /** The line of the text that says which installation it is of. */
  readonly identity: string;
  /** Makes the manager know a new file, so that it is started with the machine or at log-in. */
  readonly enable: readonly Command[];
  readonly start: Command;
  /** Stops it and makes the manager forget it, before the file is removed. */
  readonly disable: readonly Command[];
  readonly forget: readonly Command[];
  /** Its state in a word on stdout. */
  readonly ask: Command;
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
  const say = (...words: readonly string[]): Command => ['systemctl', ...scope, ...words];
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
    disable: [say('disable', '--now', unit)],
    forget: [say('daemon-reload')],
    ask: say('is-active', unit),
    hints: isSystem
      ? []
      : ['`loginctl enable-linger` once lets it run while you are not logged in.'],
  };
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
  const text = launchdPlist(parts, { label: name, log });
  return {
    path,
    text: stamped(text, '<!--'),
    identity: lineWith('start.ts</string>', text),
    enable: [],
    start: ['launchctl', 'bootstrap', domain, path],
    disable: [['launchctl', 'bootout', `${domain}/${name}`]],
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

/** Returns null where systemd does not run. */
function version(): number | null {
  const { stdout } = spawnSync('systemctl', ['--version'], { encoding: 'utf8' });
  const number = /^systemd (\d+)/.exec(stdout ?? '')?.[1];
  return number === undefined ? null : Number(number);
}
