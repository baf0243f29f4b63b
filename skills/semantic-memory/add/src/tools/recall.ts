import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { lineOf } from './semantic-memory/recalled-text.ts';
import { runningMemory } from './semantic-memory/running.ts';

export const tool = defineTool({
  name: 'recall',
  create: ({ dataDir }) => ({
    description:
      'Finds notes and messages of this chat by their meaning as well as their words, best first, with where each is from. For exact words, or all of a day, search_history is better.',
    isMainOnly: false,
    input: z.object({
      query: z.string().min(1).max(2_000).describe('What you want to know, in a sentence'),
      limit: z.int().min(1).max(50).default(10),
    }),
    async run({ caller, timeZone }, { query, limit }) {
      const memory = runningMemory(dataDir);
      if (memory === null) throw new Error('The memory is not running now. Use search_history.');
      const wish = { folder: caller.folder, text: query, isStrict: false };
      const { found, problem } = await memory.recall(wish);
      const lines = found.slice(0, limit).map((one) => lineOf(one, timeZone));
      const note = problem === null ? [] : [`(Found by words alone: ${problem})`];
      return [...(lines.length === 0 ? ['Nothing was found.'] : lines), ...note].join('\n');
    },
  }),
});
