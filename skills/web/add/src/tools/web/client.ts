import { type Dispatcher, request } from 'undici';
import { ACCEPTED_ENCODINGS, readBody, tooLong } from './body.ts';
import { openPublicAgent } from './connect.ts';
import { type Cookies, openCookies } from './cookies.ts';
import type { Internet } from './internet.ts';
import { PageRefused, pageAddress } from './page-address.ts';
import { refreshIn } from './refresh.ts';

/** The name by which sites know who asks. */
export const USER_AGENT = 'Mozilla/5.0 (compatible; Patchclaw)';

const MOST_REDIRECTS = 8;
const HEADERS_MS = 15_000;
const PDF_BYTES = 20_000_000;
const TEXT_BYTES = 5_000_000;

/** A page as its server gave it, unpacked. */
export type FetchedPage = {
  readonly url: string;
  /** Every address on the way, the last one included. */
  readonly way: readonly URL[];
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly isCacheable: boolean;
};

export type FetchOptions = {
  readonly internet: Internet;
  readonly signal: AbortSignal;
  /** Refuses an address on the way, by throwing. */
  readonly check?: (url: URL) => void | Promise<void>;
  readonly accept?: string;
  /** True to read the page that a page sends its readers on to by itself, as a browser does. */
  readonly followsRefresh?: boolean;
};

/**
 * Fetches a page from the public internet, with nothing of the owner's. Each address on the way, that of every
 * redirect too, passes the same checks. Cookies that a site sets on the way are sent back to it on this way, and then
 * forgotten.
 *
 * @throws PageRefused with a sentence for the agent
 */
export async function fetchPage(address: string, options: FetchOptions): Promise<FetchedPage> {
  const { internet } = options;
  const agent = openPublicAgent(internet);
  const cookies = openCookies();
  const way: URL[] = [];
  const asked = new Set<string>();
  let url = pageAddress(address, internet.ownNetworks());
  try {
    while (true) {
      // With another cookie it is another question.
      const question = `${url.href} ${cookies.of(url)}`;
      if (asked.has(question)) {
        throw new PageRefused(`${url.href} sends its readers in a circle, so it was not read.`);
      }
      if (way.length > MOST_REDIRECTS) {
        throw new PageRefused(`${address} leads on more than ${MOST_REDIRECTS} times.`);
      }
      asked.add(question);
      way.push(url);
      await options.check?.(url);
      const response = await ask(url, agent, cookies, options);
      cookies.take(url, response.headers['set-cookie']);
      const next = redirectOf(response, url, internet);
      if (next !== null) {
        response.body.destroy();
        url = next;
        continue;
      }
      const page = await pageOf(response, way);
      const refresh = options.followsRefresh === true ? refreshIn(page, response.headers) : null;
      if (refresh === null || asked.has(`${refresh.href} ${cookies.of(refresh)}`)) return page;
      url = pageAddress(refresh.href, internet.ownNetworks(), url);
    }
  } catch (error) {
    throw inWords(error, url, options.signal);
  } finally {
    await agent.destroy();
  }
}

async function ask(
  url: URL,
  dispatcher: Dispatcher,
  cookies: Cookies,
  { signal, accept }: FetchOptions,
) {
  const cookie = cookies.of(url);
  const response = await request(url, {
    dispatcher,
    signal,
    headersTimeout: HEADERS_MS,
    bodyTimeout: HEADERS_MS,
    headers: {
      'user-agent': USER_AGENT,
      accept: accept ?? 'text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5',
      'accept-language': 'en,*;q=0.5',
      'accept-encoding': ACCEPTED_ENCODINGS,
      ...(cookie === '' ? {} : { cookie }),
    },
  });
  // A body that is given up reports that, and an error without a listener would end the assistant.
  response.body.on('error', () => {});
  return response;
}

function redirectOf(
  { statusCode, headers }: Dispatcher.ResponseData,
  from: URL,
  internet: Internet,
): URL | null {
  const location = headers['location'];
  if (![301, 302, 303, 307, 308].includes(statusCode) || typeof location !== 'string') return null;
  return pageAddress(location, internet.ownNetworks(), from);
}

async function pageOf(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  way: readonly URL[],
): Promise<FetchedPage> {
  const contentType = textOf(headers['content-type']);
  const maxBytes = /^application\/pdf\b/i.test(contentType) ? PDF_BYTES : TEXT_BYTES;
  if (Number(textOf(headers['content-length'])) > maxBytes) {
    body.destroy();
    throw tooLong(maxBytes);
  }
  return {
    url: way.at(-1)?.href ?? '',
    way,
    status: statusCode,
    contentType,
    body: await readBody(body, textOf(headers['content-encoding']), maxBytes),
    isCacheable: statusCode === 200 && !/no-store/i.test(textOf(headers['cache-control'])),
  };
}

function textOf(header: string | string[] | undefined): string {
  return Array.isArray(header) ? header.join(', ') : (header ?? '');
}

function inWords(error: unknown, { host }: URL, signal: AbortSignal): Error {
  if (error instanceof PageRefused) return error;
  if (signal.aborted) {
    return new PageRefused(`${host} took too long, so it was not read.`, { cause: error });
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const words =
    WORDS.find(([pattern]) => pattern.test(code))?.[1] ?? 'gave no answer that can be read';
  return new PageRefused(`${host} ${words}${code === '' ? '' : ` (${code})`}.`, { cause: error });
}

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/TIMEOUT|ETIMEDOUT/, 'took too long to answer'],
  [/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN/, 'cannot be reached'],
  [/CERT|SELF_SIGNED|TLS|SSL|UNABLE_TO_VERIFY/, 'has no certificate that can be trusted'],
  [/SOCKET|ECONNRESET|EPIPE/, 'broke off its answer'],
];
