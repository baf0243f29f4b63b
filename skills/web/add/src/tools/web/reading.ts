import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { decodeText } from './charset.ts';
import type { FetchedPage } from './client.ts';
import { PageRefused } from './page-address.ts';
import type { Readable } from './readable-html.ts';

const Result = z.object({ title: z.string().nullable(), text: z.string() });
const Answer = z.union([
  z.object({ isReady: z.literal(true) }),
  z.object({ value: Result }),
  z.object({ error: z.string() }),
]);

/** The longest that the start of the reading process may take, which says nothing of the page. */
const START_MS = 60_000;

type Task = {
  readonly kind: 'html' | 'feed' | 'pdf';
  readonly url: string;
  readonly body: string | Buffer;
};

/**
 * Returns the readable text of a page: an article of HTML, the entries of a feed, the text of a PDF file, and anything
 * else that is text as it is.
 *
 * @param limitMs the longest that the page may take, from when its reader is ready
 * @throws PageRefused where it holds no text
 */
export async function readPage(
  page: FetchedPage,
  limitMs: number,
  startReader: StartReader = forkReader,
): Promise<Readable> {
  const readApart = (task: Task) => readIn(startReader(), task, limitMs);
  const { url, body } = page;
  switch (kindOf(page)) {
    case 'pdf':
      return await readApart({ kind: 'pdf', url, body });
    case 'html':
      return await readApart({ kind: 'html', url, body: textOf(page) });
    case 'text': {
      const text = textOf(page);
      return isFeed(text)
        ? await readApart({ kind: 'feed', url, body: text })
        : { title: null, text };
    }
    default:
      throw new PageRefused(`${url} is not text (${page.contentType}), so it cannot be read.`);
  }
}

/**
 * Returns the text of a page as its server gave it.
 *
 * @throws PageRefused where it is not text
 */
export function rawText(page: FetchedPage): Readable {
  if (kindOf(page) === null || kindOf(page) === 'pdf') {
    const type = page.contentType || 'unknown';
    throw new PageRefused(`${page.url} is not text (${type}), so it cannot be shown as it is.`);
  }
  return { title: null, text: textOf(page) };
}

function textOf({ body, contentType }: FetchedPage): string {
  return decodeText(body, contentType);
}

function kindOf({ contentType, body }: FetchedPage): 'html' | 'pdf' | 'text' | null {
  const type = (contentType.split(';')[0] ?? '').trim().toLowerCase();
  const isUnsaid = type === '' || type === 'application/octet-stream';
  if (type === 'application/pdf' || (isUnsaid && body.subarray(0, 5).equals(PDF_MARK)))
    return 'pdf';
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  if (isUnsaid) return body.includes(0) ? null : 'text';
  const isText =
    /^text\/|[/+](?:json|xml|yaml|toml)$|javascript|ecmascript|x-ndjson|x-sh$|sql$/.test(type);
  return isText ? 'text' : null;
}

/** Tells whether XML is a feed: RSS, Atom or RDF. */
function isFeed(text: string): boolean {
  return /^\uFEFF?\s*(?:<\?xml[^>]{0,200}>\s*|<!--[^>]{0,1000}-->\s*|<\?xml-stylesheet[^>]{0,500}>\s*){0,5}<(?:rss|feed|rdf:RDF)[\s>]/.test(
    text.slice(0, 5_000),
  );
}

const PDF_MARK = Buffer.from('%PDF-');

/** A reader in a process of its own. */
export type Reader = Pick<ChildProcess, 'on' | 'once' | 'send' | 'kill'>;
export type StartReader = () => Reader;

function forkReader(): Reader {
  return fork(fileURLToPath(new URL('./reading-process.ts', import.meta.url)), [], {
    env: {},
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
}

/**
 * Reads a page in a process of its own: a page may be made to take minutes or gigabytes, and then ends alone.
 */
async function readIn(child: Reader, task: Task, limitMs: number): Promise<Readable> {
  const { promise, resolve, reject } = Promise.withResolvers<Readable>();
  const fail = (why: string) => reject(new Error(why));
  let timer = setTimeout(
    () => fail(`its reader did not start within ${START_MS / 1_000} s`),
    START_MS,
  );
  child.on('message', (message) => {
    const answer = Answer.safeParse(message);
    if (!answer.success) fail('its reader gave no answer');
    else if ('value' in answer.data) resolve(answer.data.value);
    else if ('error' in answer.data) fail(answer.data.error);
    else {
      // On a busy machine the start alone can take as long as the page may.
      clearTimeout(timer);
      timer = setTimeout(() => fail(`it takes longer than ${limitMs / 1_000} s`), limitMs);
    }
  });
  child.once('exit', () => fail('it takes too much memory'));
  child.on('error', (error) => fail(error.message));
  try {
    child.send(task);
    return await promise;
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause);
    const advice = task.kind !== 'pdf' ? ' Its source can be had with the format raw.' : '';
    throw new PageRefused(`${task.url} could not be read: ${why}.${advice}`, { cause });
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}
