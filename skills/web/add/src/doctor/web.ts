import { openSearch, type ServerAddresses } from '../tools/web/search/servers.ts';
import { chosenServer, SearchSettings } from '../tools/web/settings.ts';
import { defineExamination, type Examination, ok, problem } from './examination.ts';

const AREA = 'web';
const SET_UP = '`npx claw setup web` chooses another server, and tries it.';
const TIMEOUT_MS = 20_000;

/** Tells by which server agents search the web, and searches once. */
export const examination = webExamination();

/** @param addresses the search servers' own by default */
export function webExamination(addresses?: ServerAddresses): Examination {
  return defineExamination({
    area: AREA,
    order: 46,
    settings: SearchSettings,
    async examine({ isOffline }, own) {
      const server = chosenServer(own);
      if (server === null) return [ok(AREA, 'searching the web is switched off (WEB_SEARCH)')];
      if (isOffline) return [ok(AREA, `${server} is set for searches; it was not asked`)];
      const query = { query: 'weather', count: 1, since: null };
      try {
        await openSearch(server, own, addresses)(query, AbortSignal.timeout(TIMEOUT_MS));
        return [ok(AREA, `${server} answers searches`)];
      } catch (error) {
        return [problem(AREA, error instanceof Error ? error.message : String(error), SET_UP)];
      }
    },
  });
}
