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
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().default(''),
      published_date: z.string().nullish(),
    }),
  ),
});

/** Searches by the API of Tavily. */
export function tavily(key: string | undefined, address: string): Search {
  return async ({ query, count, since }, signal) => {
    if (key === undefined) throw new SearchFailed('Tavily has no key yet. Set TAVILY_API_KEY.');
    const wanted = { query, max_results: Math.min(count, 20), search_depth: 'basic' };
    const response = await askServer({
      server: 'Tavily',
      url: new URL('/search', address),
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(since === null ? wanted : { ...wanted, time_range: since }),
      signal,
    });
    if (response.status !== 200) throw failure('Tavily', response.status, 'TAVILY_API_KEY');
    const { results } = parsedAnswer('Tavily', response, Answer);
    return results.map(({ title, url, content, published_date }) => ({
      title: plainText(title),
      url,
      snippet: plainText(content),
      date: published_date ?? null,
    }));
  };
}
