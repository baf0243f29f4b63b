import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FarState } from '../../../lib/far/far-state.ts';
import { containerCommand, removeContainer } from '../../../lib/far/nats-container.ts';

const START_ATTEMPTS = 50;
const START_PAUSE_MS = 100;
/** Half of them ask, the others do not. */
const END_ATTEMPTS = 100;
const RESTART_MS = 1_000;
/** Debian puts it where only root's PATH looks. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

/** As long as that, and what ended it is news. */
const STEADY_MS = 10_000;

export type NatsServer = {
  /** Why it ended or did not start last, as a sentence; null where it never has. */
  problem(): string | null;
  stop(): Promise<void>;
};

/**
 * Runs the server as a child of the assistant. One that outlived an assistant which was killed is replaced: nobody would
 * start it again when it ends, and it may use the port and the keys of an earlier setup.
 */
export async function runNatsServer(
  state: FarState,
  onProgress: (line: string) => void,
): Promise<NatsServer> {
  const { port, image } = state.read();
  const [program = '', ...words] =
    image === null ? ['nats-server', '-c', state.configPath] : await containerCommand(state, image);
  let child: ChildProcess | null = null;
  let isStopped = false;
  let problem: string | null = null;

  /** It is started each second: the same reason is told once. */
  function fail(reason: string, hasRun: boolean): void {
    if (hasRun || reason !== problem) onProgress(`${reason} It is started again.`);
    problem = reason;
  }

  function start(): void {
    if (isStopped) return;
    const started = spawn(program, words, {
      stdio: ['ignore', 'ignore', 'pipe'],
      // Docker's own settings are in the environment.
      env: image === null ? { PATH } : process.env,
    });
    child = started;
    // The server's own number is worth nothing here where it is in a container.
    writeFileSync(state.pidPath, String(started.pid ?? ''), { mode: 0o600 });
    let said = '';
    started.stderr?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(-500);
    });
    let failure: Error | null = null;
    let hasRun = false;
    const steady = setTimeout(() => {
      hasRun = true;
    }, STEADY_MS).unref();
    started.once('error', (error) => {
      failure = error;
    });
    started.once('close', (code) => {
      clearTimeout(steady);
      if (isStopped) return;
      fail(whyEnded(program, failure, said, code), hasRun);
      setTimeout(restart, RESTART_MS).unref();
    });
  }

  /** A `docker run` that was killed leaves its container, which has the port and the name. */
  function restart(): void {
    if (image === null) start();
    else void removeContainer(state).then(start);
  }

  // An assistant that has no time left to stop it, such as while a machine does not answer, leaves none behind.
  const endChild = () => void child?.kill('SIGTERM');
  process.once('exit', endChild);
  await endLeftBehind(state);
  if (image !== null) await removeContainer(state);
  start();
  for (let attempt = 0; attempt < START_ATTEMPTS && !(await listens(port)); attempt += 1) {
    await sleep(START_PAUSE_MS);
  }
  return {
    problem: () => problem,
    async stop() {
      isStopped = true;
      process.off('exit', endChild);
      const running = child;
      if (running === null || running.exitCode !== null) return;
      const ended = new Promise((resolve) => running.once('close', resolve));
      running.kill('SIGTERM');
      await ended;
    },
  };
}

function whyEnded(
  program: string,
  failure: Error | null,
  said: string,
  code: number | null,
): string {
  if (failure !== null && 'code' in failure && failure.code === 'ENOENT') {
    return program === 'nats-server'
      ? 'nats-server is not installed: `sudo apt install nats-server`, or `npx claw far setup <address> --docker` and a restart.'
      : `${program} is not installed, which nats-server runs in.`;
  }
  // Without its number and the time, by which each would be another reason.
  const last = (said.trim().split('\n').at(-1) ?? '').replace(/^\[\d+\] [\d/]+ [\d:.]+ /, '');
  return `nats-server ended (${failure?.message ?? code}): ${last}${/[.!]$/.test(last) ? '' : '.'}`;
}

async function endLeftBehind(state: FarState): Promise<void> {
  for (let attempt = 0; attempt < END_ATTEMPTS; attempt += 1) {
    const pid = state.serverPid();
    if (pid === null) return;
    try {
      process.kill(pid, attempt < END_ATTEMPTS / 2 ? 'SIGTERM' : 'SIGKILL');
    } catch {
      // It has just ended.
    }
    await sleep(START_PAUSE_MS);
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
