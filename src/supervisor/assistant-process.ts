import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Environment } from './environment.ts';
import { type ChildFrame, parseChildFrame, type SupervisorFrame } from './frames.ts';
import { SMALL_HEAP, withSmallAllocator } from './small-process.ts';

/** The end of the assistant's process. */
export type ProcessEnd = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its last lines on stderr. */
  readonly lastLines: readonly string[];
};

export interface AssistantProcess {
  readonly pid: number | undefined;
  send(frame: SupervisorFrame): void;
  /** Asks it to finish, and ends it when that takes longer than `graceMs`. */
  stop(graceMs: number): void;
  kill(): void;
  readonly ended: Promise<ProcessEnd>;
}

export type ProcessOptions = {
  readonly nodePath: string;
  readonly mainPath: string;
  readonly projectDir: string;
  readonly environment: Environment;
  readonly onFrame: (frame: ChildFrame) => void;
  /** Takes secrets out of what it prints: a crash may print anything, and its last lines are told in chats. */
  readonly scrub: (text: string) => string;
  readonly onLogLine: (line: string) => void;
};

const KEPT_LINES = 20;

const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', ...SMALL_HEAP, '--expose-gc'];

/** Starts the assistant from the tree as it is now, with a channel for frames. */
export function startAssistant(options: ProcessOptions): AssistantProcess {
  const { nodePath, mainPath, projectDir, environment, onFrame } = options;
  const child = spawn(nodePath, [...NODE_FLAGS, mainPath], {
    cwd: projectDir,
    env: withSmallAllocator(environment),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lastLines = keepLines(child, options);
  child.on('message', (message) => {
    const frame = parseChildFrame(message);
    if (frame !== null) onFrame(frame);
  });
  let killer: NodeJS.Timeout | undefined;
  const send = (frame: SupervisorFrame): void => {
    // A process that is just ending takes no more frames; its end is reported by itself.
    if (child.connected) child.send(frame, () => {});
  };
  return {
    pid: child.pid,
    send,
    stop(graceMs) {
      send({ kind: 'stop' });
      killer ??= setTimeout(() => child.kill('SIGKILL'), graceMs);
    },
    kill: () => void child.kill('SIGKILL'),
    ended: new Promise((resolve) => {
      child.on('error', (error) => lastLines.push(String(error)));
      child.on('close', (exitCode, signal) => {
        clearTimeout(killer);
        resolve({ exitCode, signal, lastLines });
      });
    }),
  };
}

function keepLines(child: ChildProcess, { scrub, onLogLine }: ProcessOptions): string[] {
  const kept: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    createInterface({ input: stream, terminal: false }).on('line', (raw) => {
      const line = scrub(raw);
      kept.push(line);
      if (kept.length > KEPT_LINES) kept.shift();
      onLogLine(line);
    });
  }
  return kept;
}
