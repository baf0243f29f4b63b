import { z } from 'zod';
import { defineTool } from '../../host/contracts/tool.ts';
import { hostOf } from './page-address.ts';
import type { Found } from './search/server.ts';
import { openSearch, type ServerAddresses } from './search/servers.ts';
import { chosenServer, SearchSettings } from './settings.ts';
import { refusalOfSite } from './site-rules.ts';
import { asUntrusted } from './untrusted.ts';

const TIMEOUT_MS = 30_000;
const LONGEST_SNIPPET = 600;

const Input = z.object({
  query: z.string().trim().min(1).max(400),
  count: z.number().int().min(1).max(20).default(8),
  since: z
    .enum(['day', 'week', 'month', 'year'])
    .optional()
    .describe('Only pages that are no older than that'),
});

/** Defines the tool that searches the web by the server that the owner has chosen. */
export function webSearch(addresses?: ServerAddresses) {
  return defineTool({
    name: 'web_search',
    settings: SearchSettings,
    needs: ['WEB_SEARCH'],
    create({ settings, newId }) {
      const server = chosenServer(settings);
      if (server === null) return null;
      const search = openSearch(server, settings, addresses);
      const { WEB_ALLOW: allow, WEB_DENY: deny } = settings;
      return {
        description:
          'Searches the web. Returns titles, addresses and a few lines of each page; web_fetch reads a page.',
        doing: 'searching the web',
        isMainOnly: false,
        repeat: 'harmless',
        brings: 'outside',
        input: Input,
        async run({ caller: { folder }, signal }, { query, count, since = null }) {
          const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
          const found = await search({ query, count, since }, limit);
          const mayRead = ({ url }: Found) => {
            const parsed = URL.parse(url);
            const rules = { allow, deny };
            return (
              parsed !== null && refusalOfSite(rules, { folder, host: hostOf(parsed) }) === null
            );
          };
          const shown = found.filter(mayRead).slice(0, count);
          const hidden = found.length - shown.length;
          const after =
            hidden === 0
              ? ''
              : `${hidden} more are on sites that the owner does not let this chat read.`;
          if (shown.length === 0) return `Nothing was found. ${after}`.trim();
          return asUntrusted(shown.map(line).join('\n\n'), newId(), after);
        },
      };
    },
  });
}

function line({ title, url, snippet, date }: Found, index: number): string {
  const head = `${index + 1}. ${title}${date === null ? '' : ` (${date})`}`;
  const lines = [head, `   ${url.slice(0, 2_000)}`];
  if (snippet !== '') lines.push(`   ${snippet.slice(0, LONGEST_SNIPPET)}`);
  return lines.join('\n');
}
