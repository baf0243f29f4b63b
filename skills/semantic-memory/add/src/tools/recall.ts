import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { recallBy } from './semantic-memory/calls.ts';
import { lineOf } from './semantic-memory/recalled-text.ts';

export const tool = defineTool({
  name: 'recall',
  create: () => ({
    description:
      'Finds notes and messages of this chat by their meaning as well as their words, best first, with where each is from. For exact words, or all of a day, search_history is better.',
    isMainOnly: false,
    repeat: 'harmless',
    brings: 'outside',
    input: z.object({
      query: z.string().min(1).max(2_000).describe('What you want to know, in a sentence'),
      limit: z.int().min(1).max(50).default(10),
    }),
    async run({ callService, timeZone }, { query, limit }) {
      const wish = { text: query, isStrict: false };
      const { found, problem } = await recallBy(callService, wish);
      const lines = found.slice(0, limit).map((one) => lineOf(one, timeZone));
      const note = problem === null ? [] : [`(Found by words alone: ${problem})`];
      return [...(lines.length === 0 ? ['Nothing was found.'] : lines), ...note].join('\n');
    },
  }),
});
