import { Worker } from 'node:worker_threads';

/** As much as the text of a large file takes, with room; a page that is made for it takes gigabytes. */
const MOST_BYTES = 900_000_000;
const LOOK_MS = 25;
const TOO_LARGE = 'it takes too much memory';

/**
 * A process that reads one page in a thread, and looks at the memory meanwhile: no limit of a thread counts its
 * buffers, and a thread that has none left can take its whole process with it.
 */
process.once('message', (task) => {
  const worker = new Worker(new URL('./reading-worker.ts', import.meta.url), {
    workerData: task,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 8 },
  });
  worker.on('message', (message) => {
    if (message.isReady === true) process.send?.(message);
    else answer(message);
  });
  worker.once('error', (error: NodeJS.ErrnoException) => {
    const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    answer({ error: isFull ? TOO_LARGE : (error.message ?? 'it is damaged') });
  });
  setInterval(() => {
    if (process.memoryUsage.rss() > MOST_BYTES) answer({ error: TOO_LARGE });
  }, LOOK_MS);
});
// The assistant has ended.
process.once('disconnect', () => process.exit());

function answer(message: { readonly value?: unknown; readonly error?: string }): void {
  process.send?.(message, () => process.exit());
}
