import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Clone, visitorsEnvironment } from '../story/clone.ts';

/** The assistant as a service runs it: its supervisor in a process of its own, to be stopped and killed. */
export class DayAssistant {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  output = '';
  /** False from the moment at which it is asked to end. */
  isUp = true;

  constructor(clone: Clone) {
    this.#child = spawn(clone.nodePath, ['src/supervisor/entry.js'], {
      cwd: clone.root,
      env: visitorsEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString()).slice(-20_000);
    };
    this.#child.stdout?.on('data', keep);
    this.#child.stderr?.on('data', keep);
    this.#ended = once(this.#child, 'close').then(([code]) => code);
  }

  /** Kills the process that does the work, in the middle of it; its supervisor starts another. */
  crash(): void {
    const pid = this.#child.pid;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    // Between two processes there is none, and 0 would mean everybody's.
    for (const child of children) if (child !== '') process.kill(Number(child), 'SIGKILL');
  }

  /** Asks it to end. @returns exit code, and how long that took in milliseconds */
  async stop(): Promise<{ readonly code: number | null; readonly tookMs: number }> {
    const startedAt = performance.now();
    this.isUp = false;
    this.#child.kill('SIGTERM');
    const code = await this.#ended;
    return { code, tookMs: performance.now() - startedAt };
  }
}
