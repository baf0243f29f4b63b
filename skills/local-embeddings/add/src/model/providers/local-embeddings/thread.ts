import { Worker } from 'node:worker_threads';
import type { LocalEmbedding } from '../../embedder.ts';

/** Without a text for so long, the thread ends and frees its 260 MB; loading it again takes a second. */
const IDLE_MS = 600_000;

/** Each text leaves much that is soon garbage; with a larger heap for it the thread takes 380 MB. */
const YOUNG = { maxYoungGenerationSizeMb: 12 };

/** What the thread answers for each text, in the order in which it was asked. */
export type ThreadAnswer =
  | { readonly kind: 'vector'; readonly vector: Float32Array | null }
  | { readonly kind: 'failed'; readonly message: string };

type Job = {
  readonly texts: readonly string[];
  readonly vectors: (Float32Array | null)[];
  readonly resolve: (vectors: readonly (Float32Array | null)[]) => void;
  readonly reject: (error: Error) => void;
};

export type ThreadOptions = {
  readonly worker?: URL;
  readonly idleMs?: number;
};

/**
 * Opens the thread that holds the model, when there is a first text. It is given one text at a time: a question of few
 * texts does not wait for a batch of many, and one that nobody waits for any more is dropped.
 */
export function openEmbeddingThread({
  worker: url = new URL('./worker.ts', import.meta.url),
  idleMs = IDLE_MS,
}: ThreadOptions = {}): LocalEmbedding {
  const jobs = new Set<Job>();
  let running: Worker | null = null;
  let asked: Job | null = null;
  let isBusy = false;
  let idle: NodeJS.Timeout | undefined;

  function start(): Worker {
    // The environment holds keys, and the loader's options of the main thread are not meant for this one.
    const worker = new Worker(url, { env: {}, execArgv: [], resourceLimits: YOUNG });
    worker.on('message', (answer: ThreadAnswer) => {
      if (running !== worker) return;
      isBusy = false;
      if (asked !== null && jobs.has(asked)) take(asked, answer);
      asked = null;
      next();
    });
    worker.once('error', (error) => ended(worker, error.message));
    worker.once('exit', () => ended(worker, 'it ended'));
    return worker;
  }

  function take(job: Job, answer: ThreadAnswer): void {
    if (answer.kind === 'failed') {
      jobs.delete(job);
      job.reject(new Error(`The embedding model of this machine failed: ${answer.message}`));
      return;
    }
    job.vectors.push(answer.vector);
    if (job.vectors.length < job.texts.length) return;
    jobs.delete(job);
    job.resolve(job.vectors);
  }

  /** A thread that breaks takes what it was asked for with it; the next text starts another. */
  function ended(worker: Worker, reason: string): void {
    if (running !== worker) return;
    running = null;
    asked = null;
    isBusy = false;
    const message = `The embedding model of this machine cannot be used: ${reason}. \`npm ci\` installs its packages again.`;
    for (const job of jobs) job.reject(new Error(message));
    jobs.clear();
  }

  function next(): void {
    if (isBusy) return;
    const left = ({ texts, vectors }: Job) => texts.length - vectors.length;
    const [shortest] = [...jobs].toSorted((one, other) => left(one) - left(other));
    if (shortest === undefined) {
      // An idle thread keeps no process alive, and not its memory for good.
      running?.unref();
      idle = setTimeout(stop, idleMs).unref();
      return;
    }
    clearTimeout(idle);
    running ??= start();
    running.ref();
    isBusy = true;
    asked = shortest;
    running.postMessage(shortest.texts[shortest.vectors.length]);
  }

  function stop(): void {
    const worker = running;
    running = null;
    void worker?.terminate();
  }

  return (texts, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Error('It was stopped.'));
      if (texts.length === 0) return resolve([]);
      const job: Job = { texts, vectors: [], resolve, reject };
      const drop = () => {
        if (jobs.delete(job)) reject(new Error('It was stopped.'));
      };
      signal.addEventListener('abort', drop, { once: true });
      jobs.add(job);
      next();
    });
}
