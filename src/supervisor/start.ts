import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { historyFile } from './console/history.ts';
import { interactiveConsole } from './console/interactive-console.ts';
import type { OwnerConsole } from './console/owner-console.ts';
import { pipedConsole } from './console/piped-console.ts';
import { printable } from './console/printable.ts';
import { openControl } from './control/server.ts';
import { dataDirOf, type Environment, readEnvironment, secretValues } from './environment.ts';
import { openFirstChecks } from './first-checks.ts';
import { lockInstance } from './instance-lock.ts';
import { openLog } from './log/log.ts';
import { scrubber } from './log/scrub.ts';
import { closePrivate } from './private-data.ts';
import { openSupervisor } from './supervisor.ts';
import { DEFAULT_TIMING } from './timing.ts';

/** Names of settings that show that a model is set up, or was meant to be. */
const OF_A_MODEL = /^MODEL$|_API_KEY$|_BASE_URL$/;

process.exitCode = await start().catch(failed);
// Handles of the terminal would keep the process; everything that matters has been written.
process.exit();

async function start(): Promise<number> {
  const projectDir = resolve(import.meta.dirname, '../..');
  const secrets = new Set<string>();
  let environment: Environment = process.env;
  const readNow = () => {
    try {
      environment = readEnvironment(projectDir, process.env);
    } catch {
      // `.env` exists but is unreadable: keep the last values; the assistant reports the problem.
    }
    for (const secret of secretValues(environment)) secrets.add(secret);
    return environment;
  };
  readNow();
  const dataDir = dataDirOf(projectDir, environment);
  const lock = lockInstance(dataDir, process.pid);
  if (lock.kind === 'refused') {
    process.stderr.write(`${lock.message}\n`);
    return 1;
  }
  closePrivate({ projectDir, dataDir });
  const isService = process.argv.includes('--service');
  const clawPath = join(projectDir, 'bin/claw.js');
  if (!isService && process.stdin.isTTY && process.stdout.isTTY) {
    await offerSetup({ nodePath: process.execPath, clawPath, projectDir, environment });
    readNow();
  }
  const ownerConsole = isService
    ? serviceConsole(process.stdout, process.stderr)
    : consoleOf(dataDir);
  const log = await openLog({
    name: 'supervisor',
    dataDir,
    level: 'info',
    isStderrLog: !ownerConsole.isInteractive && Boolean(environment['CLAW_LOG_LEVEL']),
    stderr: process.stderr,
    secrets,
    now: Date.now,
  });
  const firstChecks = openFirstChecks({
    projectDir,
    nodePath: process.execPath,
    onFailed: (error) => log.warn('the first checks could not run', { error: String(error) }),
  });
  const supervisor = openSupervisor({
    projectDir,
    dataDir,
    nodePath: process.execPath,
    mainPath: join(projectDir, 'src/main.ts'),
    clawPath,
    readEnvironment: readNow,
    ownerConsole,
    log,
    scrub: scrubber(secrets),
    runId: randomUUID(),
    now: Date.now,
    timing: DEFAULT_TIMING,
    firstChecks,
  });
  process.on('SIGINT', () => supervisor.interrupt());
  process.on('SIGTERM', () => supervisor.end());
  // A service has no terminal that could be closed, and would not be started again after ending well.
  process.on('SIGHUP', () => isService || supervisor.end());
  // The reader of the answers is gone: the same as leaving, except for a service, which has channels.
  process.stdout.on('error', () => isService || supervisor.end());
  process.stderr.on('error', () => {});
  const control = await openControl(dataDir, supervisor.admit).catch((error: unknown) => {
    log.warn('shells cannot talk to the assistant', { error: String(error) });
    return null;
  });
  const exitCode = await supervisor.run();
  firstChecks.stop();
  await control?.close();
  ownerConsole.close();
  lock.release();
  return exitCode;
}

/**
 * Lets the owner connect a model at the terminal before the assistant greets, unless a setting names one. The assistant
 * starts afterwards, even if the owner cancels the set-up or it fails.
 */
async function offerSetup(parts: {
  readonly nodePath: string;
  readonly clawPath: string;
  readonly projectDir: string;
  readonly environment: Environment;
}): Promise<void> {
  const { nodePath, clawPath, projectDir, environment } = parts;
  if (Object.entries(environment).some(([name, value]) => OF_A_MODEL.test(name) && value)) return;
  // Ctrl-C goes to the set-up, which the terminal shares with this process.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  try {
    await new Promise((resolve) => {
      const args = [clawPath, 'setup', '--cwd', projectDir, '--if-needed', '--no-restart'];
      spawn(nodePath, args, { stdio: ['inherit', 'ignore', 'inherit'] })
        .on('error', resolve)
        .on('close', resolve);
    });
  } finally {
    process.off('SIGINT', ignore);
  }
}

/**
 * Creates the console of a service, which has no terminal: the system started the assistant, and ends it.
 * Messages for the terminal go to the system's journal. The end of the input, which `/dev/null` always has,
 * ends nothing.
 */
function serviceConsole(output: Writable, errors: Writable): OwnerConsole {
  return {
    // As on a terminal, warnings are shown in words; the log's files have the rest.
    isInteractive: true,
    open: () => {},
    print: (markdown) => void output.write(`${printable(markdown)}\n`),
    grow: () => {},
    notice: (text) => void errors.write(`${printable(text)}\n`),
    setActivity: () => {},
    acknowledged: () => {},
    close: () => {},
  };
}

/**
 * Tells in one line what the machine refused, such as a data folder that cannot be written. Anything else is a fault
 * of ours, whose stack is wanted.
 */
function failed(error: unknown): number {
  if (!(error instanceof Error && 'syscall' in error)) throw error;
  process.stderr.write(
    `The assistant cannot start: ${error.message}. Make that possible, or name another data folder with CLAW_DATA in .env.\n`,
  );
  return 1;
}

function consoleOf(dataDir: string): OwnerConsole {
  const { stdin: input, stdout: output, stderr: errors } = process;
  if (!input.isTTY || !output.isTTY) return pipedConsole({ input, output, errors });
  const isStyled = !process.env['NO_COLOR'];
  return interactiveConsole({
    input,
    output,
    isStyled,
    history: historyFile(join(dataDir, 'history')),
  });
}
