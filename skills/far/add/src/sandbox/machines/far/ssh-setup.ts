import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createUser } from '@nats-io/nkeys';
import { jsonWithin } from '../../../lib/bounded-json.ts';
import { waitUntilLetIn } from '../../../lib/far/enrol.ts';
import { whyUnreachable } from '../../../lib/far/far-connection.ts';
import { commandOf, FarRefused } from '../../../lib/far/far-state.ts';
import { joinCode } from '../../../lib/far/join-code.ts';
import { PATIENCE_MINUTES } from '../../../lib/far/joining.ts';
import { GO, NEWS_MARK, type SetupNews, SetupRequest } from '../../../lib/far/ssh-messages.ts';
import {
  readWorkerConfig,
  type WorkerConfig,
  workerFolder,
  writeWorkerConfig,
} from '../../../lib/far/worker-folder.ts';
import { installWorkerUnit, UNIT } from '../../../lib/far/worker-unit.ts';

const SLOTS = 2;
const END_ATTEMPTS = 600;
const END_PAUSE_MS = 100;

export type SshSetupParts = {
  readonly dataDir: string;
  /** The folder of this program, beside those of earlier ones. */
  readonly programDir: string;
  /** Says what runs agents here. @throws FarRefused where nothing does */
  readonly lookForEngine: () => Promise<string>;
};

/**
 * The machine's end of `claw far add --ssh`: speaks with the home over its input and output. Only the public half of this
 * machine's key leaves it. The key is written before it is told, so that a setup that was cut off goes on with the same.
 */
export async function setUpBySshHere(parts: SshSetupParts): Promise<void> {
  const tell = (news: SetupNews) =>
    void process.stdout.write(`${NEWS_MARK}${JSON.stringify(news)}\n`);
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const heard = async (): Promise<string> => {
    const { value, done } = await lines.next();
    // Home has said why it takes this machine no further, or the link is cut.
    if (done === true) process.exit(1);
    return value;
  };
  const step = (text: string) => tell({ kind: 'step', text });
  try {
    const request = SetupRequest.parse(jsonWithin(await heard()));
    step(await parts.lookForEngine());
    const known = readWorkerConfig(parts.dataDir);
    const config = configOf(request, known);
    if (known === null) writeWorkerConfig(parts.dataDir, config);
    await checkWayHome(config);
    step(`it reaches this home at ${config.host}:${config.port}`);
    const other = known === null || isSameHome(known, config) ? null : homeOf(known);
    tell({ kind: 'key', key: joinCode.publicKeyOf(config.seed), other });
    if ((await heard()) !== GO) process.exit(1);
    writeWorkerConfig(parts.dataDir, config);
    await waitUntilLetIn(config);
    step('this home lets it in');
    const isSame = known !== null && JSON.stringify(known) === JSON.stringify(config);
    tell({ kind: 'done', notes: [...(await start(parts, isSame, step))] });
  } catch (error) {
    if (!(error instanceof FarRefused)) throw error;
    tell({ kind: 'problem', text: error.message.slice(0, 1_000) });
    process.exitCode = 1;
  } finally {
    process.stdin.destroy();
  }
}

function configOf(request: SetupRequest, known: WorkerConfig | null): WorkerConfig {
  const { name, host, port, certificate, abilities, slots } = request;
  return {
    ...{ name, host, port, certificate },
    seed: known?.seed ?? new TextDecoder().decode(createUser().getSeed()),
    abilities: [...(abilities ?? known?.abilities ?? [])],
    capacity: slots ?? known?.capacity ?? SLOTS,
    patienceMinutes: PATIENCE_MINUTES,
  };
}

function isSameHome(one: WorkerConfig, other: WorkerConfig): boolean {
  const isSameAddress = one.host === other.host && one.port === other.port;
  return isSameAddress || (one.certificate !== '' && one.certificate === other.certificate);
}

const homeOf = ({ host, port, name }: WorkerConfig) => `${host}:${port}, where it is ${name}`;

/** A server that refuses an unknown key has been reached. */
async function checkWayHome(config: WorkerConfig): Promise<void> {
  const reason = await whyUnreachable(config);
  if (reason === null || /authorization/i.test(reason)) return;
  const { host, port, name } = config;
  throw new FarRefused(
    `${name} does not reach this home at ${host}:${port} (${reason}). Does a firewall let port ${port} through? \`npx claw far setup <address>\` takes another address.`,
  );
}

/** Has the worker run now and after a restart. Returns what is left for the owner to do. */
async function start(
  { dataDir, programDir }: SshSetupParts,
  isSameConfig: boolean,
  step: (text: string) => void,
): Promise<readonly string[]> {
  const isSame = !makeCurrent(programDir) && isSameConfig;
  const main = join(dirname(programDir), 'current/worker.mjs');
  const isSystem = process.getuid?.() === 0;
  const scope = isSystem ? [] : ['--user'];
  if (outputOf('systemctl', ...scope, 'show-environment') === null) {
    return await startAlone(dataDir, main, isSame, step);
  }
  const notes: string[] = [];
  try {
    installWorkerUnit({
      node: process.execPath,
      command: [main, 'run'],
      searchPath: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      isSystem,
      environment: process.env,
    });
  } catch (error) {
    if (!(error instanceof FarRefused)) throw error;
    notes.push(`Its service was left as it is, and may run another worker: ${error.message}`);
  }
  const isActive = outputOf('systemctl', ...scope, 'is-active', UNIT) !== null;
  const steps = [
    ['daemon-reload'],
    ['enable', UNIT],
    ...(isSame && isActive ? [] : [['restart', UNIT]]),
  ];
  for (const words of steps) {
    if (outputOf('systemctl', ...scope, ...words) !== null) continue;
    const command = ['systemctl', ...scope, ...words].join(' ');
    throw new FarRefused(
      `\`${command}\` failed there. Run it there to see why, then run this command again.`,
    );
  }
  step(
    isSame && isActive
      ? 'its service runs already'
      : 'its service is started, now and at each start of the machine',
  );
  if (!isSystem) notes.push(...linger());
  return notes;
}

/** A service of a user runs only while the user is logged in, unless it may linger. */
function linger(): readonly string[] {
  const { username } = userInfo();
  const look = () => outputOf('loginctl', 'show-user', username, '--property=Linger', '--value');
  if (look()?.trim() === 'yes') return [];
  outputOf('loginctl', 'enable-linger');
  if (look()?.trim() === 'yes') return [];
  return [
    `It ends when you log out there. Run this there once, so that it stays: sudo loginctl enable-linger ${username}`,
  ];
}

/** Without systemd it is started now, and nothing starts it after the machine. */
async function startAlone(
  dataDir: string,
  main: string,
  isSame: boolean,
  step: (text: string) => void,
): Promise<readonly string[]> {
  const [pidPath, logPath] = ['worker.pid', 'worker.log'].map((name) =>
    join(workerFolder(dataDir), name),
  ) as [string, string];
  const pid = existsSync(pidPath) ? Number(readFileSync(pidPath, 'utf8')) : 0;
  const isRunning = () => isProcess(pid, main);
  if (isSame && isRunning()) step('it runs already');
  else {
    if (isRunning()) process.kill(pid, 'SIGTERM');
    for (let attempt = 0; isRunning(); attempt += 1) {
      if (attempt === END_ATTEMPTS)
        throw new FarRefused(
          `The worker there (process ${pid}) does not end. End it, and run this command again.`,
        );
      await sleep(END_PAUSE_MS);
    }
    const log = openSync(logPath, 'a', 0o600);
    const child = spawn(process.execPath, [main, 'run'], {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/',
    });
    closeSync(log);
    writeFileSync(pidPath, String(child.pid), { mode: 0o600 });
    child.unref();
    step('it is started');
  }
  return [
    `systemd does not run there, so nothing starts the worker after the machine was restarted. Have this run at its start, or run this command again then: ${process.execPath} ${main} run`,
    `Its log is ${logPath} there.`,
  ];
}

function isProcess(pid: number, main: string): boolean {
  try {
    return pid > 1 && commandOf(pid).includes(main);
  } catch {
    // No process has this number.
    return false;
  }
}

/** Makes this program the one that is started; the one before stays while it may run. Returns whether it was another. */
function makeCurrent(programDir: string): boolean {
  const programs = dirname(programDir);
  const own = basename(programDir);
  const current = join(programs, 'current');
  let before = '';
  try {
    before = readlinkSync(current);
  } catch {
    // It is the first one.
  }
  if (before !== own) {
    const made = join(programs, `new-current-${process.pid}`);
    symlinkSync(own, made);
    renameSync(made, current);
  }
  for (const name of readdirSync(programs)) {
    if (![own, before, 'current'].includes(name))
      rmSync(join(programs, name), { recursive: true, force: true });
  }
  return before !== own;
}

/** Returns null where the program fails or is not there. */
function outputOf(program: string, ...words: string[]): string | null {
  try {
    return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    // The caller tells what that means.
    return null;
  }
}
