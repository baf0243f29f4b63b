import type * as webApi from '@slack/web-api';
import { z } from 'zod';
import type { FetchedAttachment } from '../channel.ts';
import { causeInWords } from '../kit/cause.ts';
import { keepFetched } from '../kit/fetched-file.ts';
import { readFailure, SlackError } from './failure.ts';

/** Larger files are not held in memory. */
const LIMIT_BYTES = 50_000_000;
const FETCH_MS = 60_000;
const REDIRECTS = 3;

export type Download = {
  readonly web: webApi.WebClient;
  readonly botToken: string;
  readonly apiUrl: string;
  readonly folder: string;
  readonly signal: AbortSignal;
};

const Found = z.looseObject({
  file: z.looseObject({
    name: z.string().nullish().catch(null),
    mimetype: z.string().default('').catch(''),
    size: z.number().nullish().catch(null),
    url_private_download: z.url().optional().catch(undefined),
    url_private: z.url().optional().catch(undefined),
  }),
});

/**
 * Fetches a file by its id.
 *
 * @throws SlackError FILE_TOO_LARGE, FILE_GONE, REFUSED, UNREACHABLE
 */
export async function fetchFile(options: Download, id: string): Promise<FetchedAttachment> {
  const file = await describedAs(options.web, id);
  if ((file.size ?? 0) > LIMIT_BYTES) throw tooLarge();
  const address = file.url_private_download ?? file.url_private;
  if (address === undefined) throw gone();
  const content = await download(address, file.mimetype, options);
  return keepFetched(options.folder, content, file.name ?? null);
}

async function describedAs(web: webApi.WebClient, file: string) {
  let answer: unknown;
  try {
    answer = await web.files.info({ file });
  } catch (error) {
    const failure = readFailure(error);
    if (failure.kind === 'unreachable') throw unreachable(failure.cause);
    if (failure.kind === 'rate-limited') throw unreachable('it asks for a pause');
    throw failure.error === 'missing_scope' ? notAllowed() : gone();
  }
  const found = Found.safeParse(answer).data;
  if (found === undefined) throw unreachable('unexpected answer');
  return found.file;
}

async function download(
  address: string,
  mimeType: string,
  { botToken, apiUrl, signal: stop }: Download,
): Promise<Uint8Array> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(FETCH_MS)]);
  try {
    const response = await follow(new URL(address), { botToken, apiUrl, signal });
    const [type = ''] = (response.headers.get('content-type') ?? '').split(';', 1);
    // Slack shows its sign-in page to an app that may not read files.
    if (type === 'text/html' && mimeType !== 'text/html') {
      await response.body?.cancel();
      throw notAllowed();
    }
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const chunk of response.body ?? []) {
      sizeBytes += chunk.length;
      if (sizeBytes > LIMIT_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof SlackError) throw error;
    throw unreachable(causeOf(error));
  }
}

/** Follows redirects itself: the token goes to Slack alone, and nothing is asked of a place that Slack does not own. */
async function follow(
  start: URL,
  { botToken, apiUrl, signal }: Pick<Download, 'botToken' | 'apiUrl' | 'signal'>,
): Promise<Response> {
  let address = start;
  for (let steps = 0; steps <= REDIRECTS; steps += 1) {
    if (!isSlacks(address, new URL(apiUrl))) throw elsewhere();
    const headers = { authorization: `Bearer ${botToken}` };
    const response = await fetch(address.href, { headers, signal, redirect: 'manual' });
    if (response.ok) return response;
    await response.body?.cancel();
    const next = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && next !== null) {
      if (!URL.canParse(next, address.href)) throw gone();
      address = new URL(next, address);
      continue;
    }
    if (response.status === 401 || response.status === 403) throw notAllowed();
    const isGone = response.status >= 400 && response.status < 500 && response.status !== 429;
    throw isGone ? gone() : unreachable(`error ${response.status}`);
  }
  throw unreachable('too many redirects');
}

/** Slack's files are on hosts below the one of its API, or below slack.com where that is a gateway of the owner's. */
function isSlacks(address: URL, api: URL): boolean {
  if (address.origin === api.origin) return true;
  const { protocol, hostname, port } = address;
  if (protocol !== 'https:' || port !== '') return false;
  const homes = [api.hostname, 'slack.com', 'slack-gov.com'];
  return homes.some((home) => hostname === home || hostname.endsWith(`.${home}`));
}

function causeOf(error: unknown): string {
  const inner = error instanceof TypeError && error.cause !== undefined ? error.cause : error;
  if (inner instanceof Error && 'code' in inner && typeof inner.code === 'string') {
    return causeInWords(inner.code);
  }
  return inner instanceof Error ? inner.name : 'no answer';
}

function tooLarge(): SlackError {
  const limit = LIMIT_BYTES / 1_000_000;
  return new SlackError(
    'FILE_TOO_LARGE',
    `The file is larger than ${limit} MB, the most that is fetched from Slack.`,
  );
}

function gone(): SlackError {
  return new SlackError(
    'FILE_GONE',
    'The file could not be fetched (it is gone from Slack). Ask for it to be sent again.',
  );
}

function elsewhere(): SlackError {
  return new SlackError(
    'FILE_GONE',
    'The file could not be fetched: it is kept elsewhere, not on Slack. Ask for a copy.',
  );
}

function notAllowed(): SlackError {
  return new SlackError(
    'REFUSED',
    'The file could not be fetched: the app may not read files. The owner adds the scope files:read on its page ' +
      'OAuth & Permissions and installs it again.',
  );
}

function unreachable(cause: string): SlackError {
  return new SlackError(
    'UNREACHABLE',
    `The file could not be fetched (Slack cannot be reached: ${cause}). Try again later.`,
  );
}
