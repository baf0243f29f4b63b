import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';

/** The page that is to be read. */
const Task = z.object({
  kind: z.enum(['html', 'pdf']),
  url: z.string(),
  body: z.union([z.string(), z.instanceof(Uint8Array)]),
});

const { kind, url, body } = Task.parse(workerData);

parentPort?.postMessage(
  kind === 'pdf' && typeof body !== 'string'
    ? await (await import('./readable-pdf.ts')).readablePdf(body)
    : (await import('./readable-html.ts')).readableHtml(String(body), url),
);
