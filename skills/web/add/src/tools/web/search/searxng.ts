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
      content: z.string().nullish(),
      publishedDate: z.string().nullish(),
    }),
  ),
  /** Pairs of an engine and its trouble. */
  unresponsive_engines: z.array(z.array(z.string())).default([]),
});

/** Searches by a SearXNG server, the owner's or a public one that gives JSON. */
export function searxng(address: string | undefined): Search {
  return async ({ query, count, since }, signal) => {
    if (address === undefined)
      throw new SearchFailed('SearXNG has no address yet. Set SEARXNG_URL.');
    const { url, headers } = withoutPassword(address);
    url.searchParams.set('q', query);
    url.searchParams.set('format', 'json');
    if (since !== null) url.searchParams.set('time_range', since);
    const response = await askServer({ server: 'SearXNG', url, headers, signal });
    if (response.status === 403) {
      throw new SearchFailed(
        'SearXNG gives no JSON: its settings.yml has to list json under search.formats.',
      );
    }
    if (response.status !== 200) throw failure('SearXNG', response.status);
    const { results, unresponsive_engines } = parsedAnswer('SearXNG', response, Answer);
    if (results.length === 0 && unresponsive_engines.length > 0) {
      const engines = unresponsive_engines.map((one) => one.join(': ')).join(', ');
      throw new SearchFailed(`SearXNG got no answer of its search engines (${engines}).`);
    }
    return results.slice(0, count).map(({ title, url: found, content, publishedDate }) => ({
      title: plainText(title),
      url: found,
      snippet: plainText(content ?? ''),
      date: publishedDate?.slice(0, 10) ?? null,
    }));
  };
}

/** The path to the search below an address, and a name and password in it as a header. */
function withoutPassword(address: string) {
  const url = new URL(address);
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.pathname = `${url.pathname.replace(/\/(?:search)?\/?$/, '')}/search`;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  const headers = { accept: 'application/json' };
  return { url, headers: username === '' ? headers : { ...headers, authorization } };
}
