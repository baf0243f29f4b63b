import { z } from 'zod';
import { Address, oneOf, wholeNumber } from '../../lib/setting-values.ts';
import { SiteList } from './site-rules.ts';

/** Settings of what chats may read. */
export const ReadingSettings = z.object({
  WEB_ALLOW: SiteList,
  WEB_DENY: SiteList,
  WEB_ROBOTS: oneOf(['yes', 'no']).default('no'),
  WEB_CACHE_MINUTES: wholeNumber(0, 1_440).default(15),
});

/** The search servers that there are, best known first. */
export const SEARCH_SERVERS = ['brave', 'tavily', 'google', 'searxng', 'duckduckgo'] as const;

/** Settings of the search. */
export const SearchSettings = z.object({
  WEB_ALLOW: SiteList,
  WEB_DENY: SiteList,
  WEB_SEARCH: oneOf([...SEARCH_SERVERS, 'off']).optional(),
  BRAVE_SEARCH_API_KEY: z.string().optional(),
  TAVILY_API_KEY: z.string().optional(),
  GOOGLE_SEARCH_KEY: z.string().optional(),
  GOOGLE_SEARCH_ENGINE: z.string().optional(),
  SEARXNG_URL: Address.optional(),
});

export type SearchSettings = z.output<typeof SearchSettings>;

export type SearchServer = (typeof SEARCH_SERVERS)[number];

/** Returns the search server that the settings choose, by name or by what is set for one. */
export function chosenServer(settings: SearchSettings): SearchServer | null {
  const { WEB_SEARCH, BRAVE_SEARCH_API_KEY, TAVILY_API_KEY, SEARXNG_URL } = settings;
  const { GOOGLE_SEARCH_KEY, GOOGLE_SEARCH_ENGINE } = settings;
  if (WEB_SEARCH === 'off') return null;
  if (WEB_SEARCH !== undefined) return WEB_SEARCH;
  if (BRAVE_SEARCH_API_KEY !== undefined) return 'brave';
  if (TAVILY_API_KEY !== undefined) return 'tavily';
  if (GOOGLE_SEARCH_KEY !== undefined && GOOGLE_SEARCH_ENGINE !== undefined) return 'google';
  return SEARXNG_URL === undefined ? 'duckduckgo' : 'searxng';
}
