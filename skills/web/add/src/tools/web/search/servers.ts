import type { SearchServer, SearchSettings } from '../settings.ts';
import { brave } from './brave.ts';
import { duckduckgo } from './duckduckgo.ts';
import { google } from './google.ts';
import { searxng } from './searxng.ts';
import type { Search } from './server.ts';
import { tavily } from './tavily.ts';

/** Addresses of the servers whose address is not the owner's to set. */
export type ServerAddresses = Readonly<
  Record<'brave' | 'tavily' | 'google' | 'duckduckgo', string>
>;

export const SERVER_ADDRESSES: ServerAddresses = {
  brave: 'https://api.search.brave.com',
  tavily: 'https://api.tavily.com',
  google: 'https://customsearch.googleapis.com',
  duckduckgo: 'https://html.duckduckgo.com',
};

/** Opens the search by one server, with what is set for it. */
export function openSearch(
  server: SearchServer,
  settings: SearchSettings,
  addresses: ServerAddresses = SERVER_ADDRESSES,
): Search {
  switch (server) {
    case 'brave':
      return brave(settings.BRAVE_SEARCH_API_KEY, addresses.brave);
    case 'tavily':
      return tavily(settings.TAVILY_API_KEY, addresses.tavily);
    case 'google':
      return google(settings.GOOGLE_SEARCH_KEY, settings.GOOGLE_SEARCH_ENGINE, addresses.google);
    case 'searxng':
      return searxng(settings.SEARXNG_URL);
    case 'duckduckgo':
      return duckduckgo(addresses.duckduckgo);
  }
}
