import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
import { MOST_FOUND, searchParagraphs } from '../notes/paragraphs.ts';
import { PLACES } from '../prompt-section.ts';

/** Unread files that are named. */
const NAMED = 5;

export const tool = defineTool({
  name: 'search_notes',
  repeat: 'harmless',
  brings: 'own',
  description:
    'Finds paragraphs in what was written down for this chat: CLAUDE.md, MEMORY.md, HISTORY.md and the like, dated notes, your own. Words in any order, parts of words too; what was said word for word is found with search_history.',
  input: z.object({
    query: z.string().min(1).max(500).describe('A few words'),
    limit: z.int().min(1).max(MOST_FOUND).default(10),
  }),
  async run({ query, limit }, { groupFolder }) {
    const { global, notes } = PLACES;
    const folders = [groupFolder, `${groupFolder}/notes`, notes];
    const {
      found,
      more: others,
      unread,
    } = await searchParagraphs({ files: [`${global}/CLAUDE.md`], folders }, query);
    const gaps = unread.length === 0 ? [] : [unreadLine(unread)];
    if (found.length === 0) {
      return ['Nothing was found. Try other words, or search_history.', ...gaps].join('\n\n');
    }
    const shown = found.slice(0, limit).map(({ path, line, text }) => `${path}:${line}\n${text}`);
    const left = found.length - shown.length + others;
    const more = left > 0 ? [`(and ${left} more; use more words)`] : [];
    return [...shown, ...more, ...gaps].join('\n\n');
  },
});

function unreadLine(paths: readonly string[]): string {
  const more = paths.length > NAMED ? ` and ${paths.length - NAMED} more` : '';
  return `(not searched, because they cannot be read: ${paths.slice(0, NAMED).join(', ')}${more}. Tell the owner, who can look at their rights.)`;
}
