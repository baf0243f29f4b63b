import { z } from 'zod';
import {
  askServer,
  failure,
  parsedAnswer,
  plainText,
  type Search,
  SearchFailed,
} from './server.ts';

const Answer = z.object({
  web: z
    .object({
      results: z.array(
        z.object({
          title: z.string(),
          url: z.string(),
          description: z.string().default(''),
          page_age: z.string().nullish(),
          age: z.string().nullish(),
        }),
      ),
    })
    .optional(),
});

const FRESHNESS = { day: 'pd', week: 'pw', month: 'pm', year: 'py' } as const;

/** Searches by the API of Brave Search. */
export function brave(key: string | undefined, address: string): Search {
  return async ({ query, count, since }, signal) => {
    if (key === undefined)
      throw new SearchFailed('Brave has no key yet. Set BRAVE_SEARCH_API_KEY.');
    const url = new URL('/res/v1/web/search', address);
    url.searchParams.set('q', query);
    url.searchParams.set('count', String(Math.min(count, 20)));
    if (since !== null) url.searchParams.set('freshness', FRESHNESS[since]);
    const headers = { accept: 'application/json', 'x-subscription-token': key };
    const response = await askServer({ server: 'Brave', url, headers, signal });
    if (response.status === 422 && response.text.includes('SUBSCRIPTION_TOKEN_INVALID')) {
      throw failure('Brave', 401, 'BRAVE_SEARCH_API_KEY');
    }
    if (response.status !== 200) throw failure('Brave', response.status, 'BRAVE_SEARCH_API_KEY');
    const { web } = parsedAnswer('Brave', response, Answer);
    return (web?.results ?? []).map(({ title, url: found, description, page_age, age }) => ({
      title: plainText(title),
      url: found,
      snippet: plainText(description),
      date: page_age?.slice(0, 10) ?? age ?? null,
    }));
  };
}
