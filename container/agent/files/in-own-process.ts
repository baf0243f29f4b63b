import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** As much as the container leaves beside the agent; what a decoder keeps outside of JavaScript is not in it. */
const FLAGS = ['--disable-sigusr1', '--max-old-space-size=400'];

export type OwnProcessCall = {
  /** A file of `workers/`, without its ending. */
  readonly name: string;
  /** Any value that JSON can hold. */
  readonly input: unknown;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** The single message of such a process: its result, or the reason why there is none. */
export type WorkerAnswer = { readonly value?: unknown; readonly error?: string };

/**
 * Runs a piece of work in a process that is started for it and ended after it: a hostile file cannot keep the agent
 * from its work, fill its memory or end it.
 *
 * @throws Error as the end of a sentence: `it takes too long`, or in the worker's own words
 */
export async function inOwnProcess(call: OwnProcessCall): Promise<unknown> {
  const { name, input, timeoutMs, signal } = call;
  signal?.throwIfAborted();
  const child = fork(fileOf(name), [JSON.stringify(input)], {
    env: {},
    execArgv: FLAGS,
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const timer = setTimeout(() => reject(new Error('it takes too long')), timeoutMs);
  const stop = () => reject(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  child.once('message', (answer: WorkerAnswer) => {
    const { value, error } = answer;
    if (error === undefined) resolve(value);
    else reject(new Error(error));
  });
  child.once('error', () => reject(new Error('nothing here can read it')));
  child.once('exit', () => reject(new Error('it is damaged, or takes too much memory')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    child.kill('SIGKILL');
  }
}

/** Does the work of such a process: reads its input, and sends its answer. */
export async function answerParent(work: (input: unknown) => Promise<WorkerAnswer>): Promise<void> {
  const answer = await work(JSON.parse(process.argv[2] ?? 'null'));
  process.send?.(answer, () => process.disconnect());
}

/** In the bundle the workers are beside the agent. */
function fileOf(name: string): string {
  const isSource = import.meta.url.endsWith('.ts');
  const path = isSource ? `../workers/${name}.ts` : `./worker-${name}.mjs`;
  return fileURLToPath(new URL(path, import.meta.url));
}
