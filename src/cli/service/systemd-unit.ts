import type { ServiceParts } from './parts.ts';

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
    `Description=Patchclaw, the assistant in ${plain(home)}`,
    ...(isSystem
      ? ['Wants=network-online.target', 'After=network-online.target docker.service']
      : []),
    '# It never gives up: what keeps the assistant down may be a disk that is full, or a mistake in .env.',
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    ...(user === null ? [] : [`User=${user}`]),
    `Environment=${quoted(`PATH=${path}`)}`,
    '# Finishes what a power cut left of a command, and installs what is missing.',
    `ExecStartPre=-${command(anyNode, prepare)}`,
    `ExecStart=${command(node, start, '--service')}`,
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

/** Writes a command; its colon keeps `$` from being taken for a variable. */
function command(program: string, ...args: readonly string[]): string {
  // The one place where systemd takes no quotes, however they are escaped.
  const isOdd = /["'\\\x00-\x1f\x7f]/.test(program);
  const shell = isOdd ? ['/bin/sh', '-c', 'exec "$@"', 'sh'] : [];
  return `:${[...shell, program, ...args].map(quoted).join(' ')}`;
}

/** Quotes one word, whatever it holds: spaces, quotes, and `%`, which systemd replaces even in quotes. */
function quoted(word: string): string {
  const escaped = word
    .replace(/[\\"]/g, '\\$&')
    .replace(/[\x00-\x1f\x7f]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `"${escaped.replaceAll('%', '%%')}"`;
}

function plain(text: string): string {
  return text.replace(/[\x00-\x1f\x7f\\]/g, ' ').replaceAll('%', '%%');
}

function lines(...all: readonly string[]): string {
  return `${all.join('\n')}\n`;
}
