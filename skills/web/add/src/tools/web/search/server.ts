import { request } from 'undici';
import type { z } from 'zod';
import { jsonWithin, USUAL_BOUNDS } from '../../../lib/bounded-json.ts';
import { causeInWords, codeOf } from '../../../lib/cause.ts';
import { ACCEPTED_ENCODINGS, readBody } from '../body.ts';
import { USER_AGENT } from '../client.ts';
import { PageRefused } from '../page-address.ts';

/** A question for a search server. */
export type Query = {
  readonly query: string;
  readonly count: number;
  readonly since: 'day' | 'week' | 'month' | 'year' | null;
};

/** One result of a search. */
export type Found = {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** The time of the page, as the server tells it. */
  readonly date: string | null;
};

/** Searches the web by one server. Rejects with a `SearchFailed`. */
export type Search = (query: Query, signal: AbortSignal) => Promise<readonly Found[]>;

/** Why a search has no result, in words for the agent and the owner. */
export class SearchFailed extends Error {
  override readonly name = 'SearchFailed';
}

/** A request to the search server that the owner has chosen. */
export type ServerRequest = {
  /** The name of the server, as the owner knows it. */
  readonly server: string;
  readonly url: URL;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
};

export type ServerResponse = { readonly status: number; readonly text: string };

const MOST_BYTES = 5_000_000;
/** More than a title or a snippet has. */
const MOST_CHARACTERS = 20_000;
const ANSWER_MS = 20_000;

/**
 * Asks a search server. Its address comes from the owner or from here, never from an agent, so it may be one of the
 * owner's own network. A redirect is not followed, since a key may be among the headers.
 */
export async function askServer(wanted: ServerRequest): Promise<ServerResponse> {
  const { server, url, method = 'GET', headers = {}, body, signal } = wanted;
  try {
    const response = await request(url, {
      method,
      headers: {
        'user-agent': USER_AGENT,
        'accept-encoding': ACCEPTED_ENCODINGS,
        ...headers,
      },
      body: body ?? null,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
    });
    // A body that is given up reports that, and an error without a listener would end the assistant.
    response.body.on('error', () => {});
    const encoding = String(response.headers['content-encoding'] ?? '');
    const bytes = await readBody(response.body, encoding, MOST_BYTES);
    return { status: response.statusCode, text: bytes.toString() };
  } catch (cause) {
    if (cause instanceof PageRefused) {
      throw new SearchFailed(`${server} gave no answer that can be read. ${cause.message}`, {
        cause,
      });
    }
    const code = codeOf(cause);
    const why = code === null ? '.' : `: ${causeInWords(code)}`;
    throw new SearchFailed(`${server} cannot be reached${why}`, { cause });
  }
}

/** Parses a server's answer, or says that it is none. */
export function parsedAnswer<T>(server: string, { text }: ServerResponse, schema: z.ZodType<T>): T {
  const { data } = schema.safeParse(jsonWithin(text, { ...USUAL_BOUNDS, maxBytes: MOST_BYTES }));
  if (data === undefined) {
    throw new SearchFailed(`${server} answered something that is not a list of results.`);
  }
  return data;
}

/** Says what an answer other than 200 means: with the key, with the limits, or with the server. */
export function failure(server: string, status: number, keySetting?: string): SearchFailed {
  if (keySetting !== undefined && [401, 403].includes(status)) {
    return new SearchFailed(
      `${server} does not accept the key. The owner can set another in ${keySetting}.`,
    );
  }
  if ([402, 429, 432, 433].includes(status)) {
    return new SearchFailed(
      `${server} takes no more searches for now: its limit is reached (${status}).`,
    );
  }
  return new SearchFailed(`${server} answered with the error ${status}.`);
}

/** Returns the text of a snippet: servers mark the words that were searched for. */
export function plainText(html: string): string {
  const text = html
    .slice(0, MOST_CHARACTERS)
    .replace(/<[^>]{0,200}>/g, '')
    .replace(/&(#x?[\da-f]{1,6}|\w{1,8});/gi, (whole, name: string) => characterOf(name) ?? whole);
  return text.replace(/\s+/g, ' ').trim();
}

const NAMED = new Map(
  Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }),
);

function characterOf(name: string): string | null {
  if (!name.startsWith('#')) return NAMED.get(name.toLowerCase()) ?? null;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 31 && code <= 0x10ffff ? String.fromCodePoint(code) : null;
}
