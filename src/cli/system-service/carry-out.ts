import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CliError } from '@patchclaw/claw/cli';
import { isUntouched, type ServiceDefinition } from './definition.ts';

/** Steps that were done and steps that are left to the owner, in words and as commands. */
export type ServiceReport = {
  readonly path: string;
  readonly did: readonly string[];
  readonly run: readonly string[];
  readonly hints: readonly string[];
};

/**
 * Writes the service's file and lets the manager know. It is not started: another assistant may run.
 *
 * @throws CliError SETUP_REFUSED with the difference, where the owner has changed the file
 */
export function installService(service: ServiceDefinition, isForced: boolean): ServiceReport {
  const { path, text, identity, enable, start, hints } = service;
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
  if (before !== text) {
    if (before !== null && !isForced) {
      refuseForeign(path, before, identity);
      refuseEdited(path, before, text);
    }
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }
  const wrote = before === text ? `${path} is as it should be.` : `${path} is written.`;
  const failed = firstFailure(enable);
  const done = enable.length > 0 && failed === null ? ['It is enabled.'] : [];
  const left = failed === null ? [] : enable;
  return { path, did: [wrote, ...done], run: [...left, start].map(asTyped), hints };
}

/** @throws CliError SETUP_REFUSED where the owner has changed the file */
export function uninstallService(service: ServiceDefinition, isForced: boolean): ServiceReport {
  const { path, identity, disable, forget } = service;
  if (!existsSync(path)) return { path, did: [`There is no ${path}.`], run: [], hints: [] };
  const before = readFileSync(path, 'utf8');
  if (!isForced) {
    refuseForeign(path, before, identity);
    refuseEdited(path, before, '');
  }
  const failed = firstFailure(disable);
  rmSync(path);
  const run = failed === null ? [] : disable;
  const left = firstFailure(forget) === null ? [] : forget;
  const stopped = failed === null ? 'It is stopped, and ' : '';
  return {
    path,
    did: [`${stopped}${path} is removed.`],
    run: [...run, ...left].map(asTyped),
    hints: [],
  };
}

/**
 * Starts or stops an installed service, or says with which command the owner can.
 *
 * @throws CliError SETUP_REFUSED where it is not installed, or another installation's
 */
export function turnService(service: ServiceDefinition, way: 'start' | 'stop'): ServiceReport {
  const { path, identity } = service;
  if (!existsSync(path)) {
    const message = `There is no service here (${path}). \`npx claw service install\` writes it.`;
    throw new CliError('SETUP_REFUSED', message, { path });
  }
  refuseForeign(path, readFileSync(path, 'utf8'), identity);
  if (firstFailure([service[way]]) === null) {
    return {
      path,
      did: [way === 'start' ? 'It is started.' : 'It is stopped.'],
      run: [],
      hints: [],
    };
  }
  const did = [`The service manager did not ${way} it.`];
  return { path, did, run: [asTyped(service[way])], hints: [] };
}

/**
 * Returns whether the service is installed, whether its file is as claw wrote it, and its manager's word on
 * it.
 */
export function serviceState(service: ServiceDefinition) {
  const { path, text, ask } = service;
  const file = existsSync(path) ? readFileSync(path, 'utf8') : null;
  const kind =
    file === null
      ? ('absent' as const)
      : file === text
        ? ('installed' as const)
        : isUntouched(file)
          ? ('outdated' as const)
          : ('edited' as const);
  const [program, ...args] = ask;
  const asked = spawnSync(program, args, { encoding: 'utf8' });
  const [word = ''] = (asked.stdout ?? '').trim().split('\n');
  const manager = program === 'launchctl' ? (asked.status === 0 ? 'loaded' : 'not loaded') : word;
  return { path, file: kind, state: manager === '' ? null : manager };
}

/**
 * Returns the command that starts an installed service; null if it is not installed, or belongs to another
 * installation.
 */
export function startCommand({ path, identity, start }: ServiceDefinition): string | null {
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  return lines.includes(identity) ? asTyped(start) : null;
}

/** Refuses to replace the service of another installation: one user has one service of that name. */
function refuseForeign(path: string, before: string, identity: string): void {
  if (!isUntouched(before) || before.split('\n').includes(identity)) return;
  throw new CliError(
    'SETUP_REFUSED',
    `${path} is of another installation. --name gives this one a service of its own; --yes replaces that one.`,
    { path },
  );
}

function refuseEdited(path: string, before: string, text: string): void {
  if (isUntouched(before)) return;
  const shown = difference(before, text);
  throw new CliError(
    'SETUP_REFUSED',
    `${path} holds changes that are not claw's, and stays as it is.${shown} Say --yes to go on all the same.`,
    { path },
  );
}

function difference(before: string, text: string): string {
  if (text === '') return '';
  const [old, fresh] = [before, text].map((file) =>
    file.split('\n').filter((line) => !/sha256:/.test(line)),
  );
  const gone = (old ?? []).filter((line) => !fresh?.includes(line)).map((line) => `  - ${line}`);
  const added = (fresh ?? []).filter((line) => !old?.includes(line)).map((line) => `  + ${line}`);
  return ` What would change:\n${[...gone, ...added].join('\n')}\n`;
}

/** Returns the first command that did not work; null where all did. */
function firstFailure(commands: ServiceDefinition['enable']): string | null {
  for (const [program, ...args] of commands) {
    const { status } = spawnSync(program, args, { stdio: 'ignore' });
    if (status !== 0) return program;
  }
  return null;
}

function asTyped(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w./:@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
