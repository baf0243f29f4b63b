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

export type NatsServer = { stop(): Promise<void> };

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

  function start(): void {
    if (isStopped) return;
    const started = spawn(program, words, {
      stdio: ['ignore', 'ignore', 'pipe'],
      // Docker's own settings are in the environment.
      env: image === null ? { PATH } : process.env,
    });
    child = started;
    // The server writes its own number, but one in a container is worth nothing here.
    if (image !== null) writeFileSync(state.pidPath, String(started.pid ?? ''));
    let said = '';
    started.stderr?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk}`.slice(-500);
    });
    started.once('error', (error) => onProgress(`nats-server does not start: ${error.message}`));
    started.once('close', (code) => {
      if (isStopped) return;
      onProgress(`nats-server ended (${code}): ${said.trim().split('\n').at(-1) ?? ''}`);
      setTimeout(restart, RESTART_MS).unref();
    });
  }

  /** A `docker run` that was killed leaves its container, which has the port and the name. */
  function restart(): void {
    if (image === null) start();
    else void removeContainer(state).then(start);
  }

  await endLeftBehind(state);
  if (image !== null) await removeContainer(state);
  start();
  for (let attempt = 0; attempt < START_ATTEMPTS && !(await listens(port)); attempt += 1) {
    await sleep(START_PAUSE_MS);
  }
  return {
    async stop() {
      isStopped = true;
      const running = child;
      if (running === null || running.exitCode !== null) return;
      const ended = new Promise((resolve) => running.once('close', resolve));
      running.kill('SIGTERM');
      await ended;
    },
  };
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
