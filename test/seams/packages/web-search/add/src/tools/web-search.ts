import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';

const Found = z.object({ results: z.array(z.object({ title: z.string(), url: z.string() })) });

export const tool = defineTool({
  name: 'web_search',
  settings: z.object({ SEARCH_KEY: z.string().optional(), SEARCH_URL: z.url().optional() }),
  needs: ['SEARCH_KEY', 'SEARCH_URL'],
  create({ settings: { SEARCH_KEY: key, SEARCH_URL: server } }) {
    if (key === undefined || server === undefined) return null;
    return {
      description: 'Searches the web. Returns titles and addresses.',
      isMainOnly: false,
      input: z.object({ query: z.string().min(1).max(200) }),
      async run(_call, { query }) {
        const headers = { authorization: `Bearer ${key}` };
        const response = await fetch(`${server}?q=${encodeURIComponent(query)}`, { headers });
        if (!response.ok) throw new Error(`The search server answered ${response.status}.`);
        return Found.parse(await response.json()).results;
      },
    };
  },
});
