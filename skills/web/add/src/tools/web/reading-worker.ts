import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';

/** The page that is to be read. */
const Task = z.object({
  kind: z.enum(['html', 'feed', 'pdf']),
  url: z.string(),
  body: z.union([z.string(), z.instanceof(Uint8Array)]),
});

const { kind, url, body } = Task.parse(workerData);

/** Loads what reads such a page, which takes most of the time of a short one. */
async function reader(): Promise<() => unknown> {
  if (kind === 'pdf' && typeof body !== 'string') {
    const { readablePdf } = await import('./readable-pdf.ts');
    return () => readablePdf(body);
  }
  if (kind === 'feed') {
    const { readableFeed } = await import('./readable-feed.ts');
    return () => readableFeed(String(body), url);
  }
  const { readableHtml } = await import('./readable-html.ts');
  return () => readableHtml(String(body), url);
}

const read = await reader();
parentPort?.postMessage({ isReady: true });
parentPort?.postMessage({ value: await read() });
