import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FarState } from '../../../lib/far/far-state.ts';

const START_ATTEMPTS = 50;
const START_PAUSE_MS = 100;
const RESTART_MS = 1_000;
/** Debian puts it where only root's PATH looks. */
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin';

export type NatsServer = { stop(): Promise<void> };

/** Runs the server as a child of the assistant, unless one of this installation runs already. */
export async function runNatsServer(
  state: FarState,
  onProgress: (line: string) => void,
): Promise<NatsServer> {
  const { port } = state.read();
  let child: ChildProcess | null = null;
  let isStopped = false;

  function start(): void {
    if (isStopped) return;
    const started = spawn('nats-server', ['-c', state.configPath], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH },
    });
    child = started;
    let words = '';
    started.stderr?.on('data', (chunk: Buffer) => {
      words = `${words}${chunk}`.slice(-500);
    });
    started.once('error', (error) => onProgress(`nats-server does not start: ${error.message}`));
    started.once('close', (code) => {
      if (isStopped) return;
      onProgress(`nats-server ended (${code}): ${words.trim().split('\n').at(-1) ?? ''}`);
      setTimeout(start, RESTART_MS).unref();
    });
  }

  // One that outlived an assistant which was killed goes on, with the newest file.
  if (state.serverPid() !== null && (await listens(port))) state.reload();
  else start();
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
