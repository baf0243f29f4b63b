import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Clone, visitorsEnvironment } from './clone.ts';

// Only what hangs takes so long.
const ANSWER_MS = 500_000;
const STOP_MS = 60_000;
/** A prompt at the end of all output: everything said so far is answered. */
const PROMPT = /(^|\n)> $/;

/** An assistant that was started from a clone, with its input and output piped. */
export class Assistant {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  stdout = '';
  stderr = '';

  private constructor(clone: Clone, [file, ...args]: readonly [string, ...string[]]) {
    // A group of its own, so that all of it can be ended whatever state it is in.
    this.#child = spawn(file, args, {
      cwd: clone.root,
      env: visitorsEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.stdout += chunk;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      this.stderr += chunk;
    });
    // Told by the exit code; what is written to a process that ended would break the test run.
    this.#child.stdin?.on('error', () => {});
    this.#ended = once(this.#child, 'close').then(([code]) => code);
  }

  /** Starts the supervisor on the clone's own Node, or as `npm start` does, and waits for its prompt. */
  static async start(clone: Clone, way: 'supervisor' | 'npm' = 'supervisor'): Promise<Assistant> {
    const assistant = new Assistant(
      clone,
      way === 'npm' ? ['npm', 'start'] : [clone.nodePath, 'src/supervisor/entry.js'],
    );
    try {
      await assistant.until(() => PROMPT.test(assistant.stdout));
    } catch (error) {
      await assistant.stop();
      throw error;
    }
    return assistant;
  }

  /** Types a line. */
  say(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  /** Types a line; what is printed until the next prompt. */
  async ask(line: string): Promise<string> {
    const from = this.stdout.length;
    this.say(line);
    return await this.untilPrompt(from);
  }

  /** Types a line, and waits for these words, whatever else is printed before them; returns the output. */
  async askFor(line: string, words: string): Promise<string> {
    const from = this.stdout.length;
    this.say(line);
    await this.until(() => this.stdout.slice(from).includes(words));
    return await this.untilPrompt(from);
  }

  /** Waits until all that was said is answered, and returns the output since `from`. */
  async untilPrompt(from: number): Promise<string> {
    await this.until(() => PROMPT.test(this.stdout.slice(from)));
    return this.stdout.slice(from).replace(PROMPT, '').trim();
  }

  /** Waits until it is so; rejects with what was printed when it never is, or the process ends. */
  async until(isSo: () => boolean): Promise<void> {
    const end = performance.now() + ANSWER_MS;
    while (!isSo()) {
      const isOver = this.#child.exitCode !== null || this.#child.signalCode !== null;
      if (isOver || performance.now() > end) {
        const why = isOver ? 'the assistant ended' : 'still not so';
        throw new Error(`${why}: ${isSo}\n${this.stdout}\n--- logs\n${this.stderr.slice(-4_000)}`);
      }
      await delay(20);
    }
  }

  /** Ends the input; the exit code. */
  async end(): Promise<number | null> {
    this.#child.stdin?.end();
    return await this.#ended;
  }

  /** Ends it whatever it does; what does not go in time is killed with all it started. */
  async stop(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || this.#child.exitCode !== null) return;
    this.#child.stdin?.end();
    signal(-pid, 'SIGTERM');
    const isGone = await Promise.race([this.#ended.then(() => true), delay(STOP_MS, false)]);
    if (!isGone) signal(-pid, 'SIGKILL');
    await this.#ended;
  }

  /** Kills it and all that it started, as a power cut does. */
  async kill(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined) signal(-pid, 'SIGKILL');
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

function signal(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(group, name);
  } catch {
    // All of it has ended already.
  }
}
