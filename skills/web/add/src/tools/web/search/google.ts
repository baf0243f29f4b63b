import { z } from 'zod';
import {
  askServer,
  failure,
  parsedAnswer,
  plainText,
  type Search,
  SearchFailed,
  type ServerResponse,
} from './server.ts';

const Answer = z.object({
  /** Absent where nothing was found. */
  items: z
    .array(
      z.object({
        title: z.string().default(''),
        link: z.string(),
        snippet: z.string().default(''),
        pagemap: z
          .object({ metatags: z.array(z.record(z.string(), z.unknown())).optional() })
          .nullish()
          .catch(null),
      }),
    )
    .default([]),
});
const Refusal = z.object({
  error: z.object({
    message: z.string().default(''),
    status: z.string().default(''),
    details: z
      .array(z.object({ reason: z.string().optional() }))
      .optional()
      .catch([]),
  }),
});

const SINCE = { day: 'd1', week: 'w1', month: 'm1', year: 'y1' } as const;
/** The server refuses more in one request. */
const MOST_RESULTS = 10;
const MAX_REASON = 200;

/** Searches by Google's Programmable Search Engine (Custom Search JSON API). */
export function google(
  key: string | undefined,
  engine: string | undefined,
  address: string,
): Search {
  return async ({ query, count, since }, signal) => {
    if (key === undefined) throw new SearchFailed('Google has no key yet. Set GOOGLE_SEARCH_KEY.');
    if (engine === undefined) {
      throw new SearchFailed(
        'Google has no search engine yet. Set GOOGLE_SEARCH_ENGINE to its id.',
      );
    }
    const url = new URL('/customsearch/v1', address);
    url.searchParams.set('cx', engine);
    url.searchParams.set('q', query);
    url.searchParams.set('num', String(Math.max(1, Math.min(count, MOST_RESULTS))));
    if (since !== null) url.searchParams.set('dateRestrict', SINCE[since]);
    // In a header, since addresses end up in logs.
    const headers = { accept: 'application/json', 'x-goog-api-key': key };
    const response = await askServer({ server: 'Google', url, headers, signal });
    if (response.status !== 200) throw refusalOf(response);
    const { items } = parsedAnswer('Google', response, Answer);
    return items.map(({ title, link, snippet, pagemap }) => ({
      title: plainText(title),
      url: link,
      snippet: plainText(snippet),
      date: publishedIn(pagemap?.metatags?.[0]),
    }));
  };
}

/** Google answers 400 to a key that is none and to an engine that is none, and 403 to a key without this API. */
function refusalOf(response: ServerResponse): SearchFailed {
  const { status } = response;
  if (status !== 400 && status !== 403) return failure('Google', status, 'GOOGLE_SEARCH_KEY');
  const { error } = refusalIn(response);
  const reasons = error.details?.map(({ reason }) => reason) ?? [];
  if (reasons.includes('API_KEY_INVALID')) return failure('Google', 401, 'GOOGLE_SEARCH_KEY');
  if (status === 403 && error.status === 'RESOURCE_EXHAUSTED') return failure('Google', 429);
  const said = plainText(error.message).slice(0, MAX_REASON);
  const why = said === '' ? '' : ` It says: ${said}`;
  return new SearchFailed(
    `Google refuses the search (${status}). The owner can check GOOGLE_SEARCH_ENGINE, and whether the key may use the Custom Search API.${why}`,
  );
}

function refusalIn(response: ServerResponse): z.output<typeof Refusal> {
  try {
    return parsedAnswer('Google', response, Refusal);
  } catch {
    return { error: { message: '', status: '', details: [] } };
  }
}

function publishedIn(tags: Readonly<Record<string, unknown>> | undefined): string | null {
  const published = tags?.['article:published_time'] ?? tags?.['og:updated_time'];
  const [day] = /^\d{4}-\d\d-\d\d/.exec(String(published ?? '')) ?? [];
  return day ?? null;
}
