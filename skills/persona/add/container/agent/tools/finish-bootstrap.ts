import { z } from 'zod';
import { defineTool } from '../agent-tool.ts';
import { endBootstrap } from '../persona/bootstrap.ts';
import { PLACES } from '../prompt-section.ts';

export const tool = defineTool({
  name: 'finish_bootstrap',
  repeat: 'harmless',
  brings: 'own',
  description:
    'Ends the first conversation: BOOTSTRAP.md is taken away. Only while it is shown to you.',
  input: z.object({}),
  async run(_, { groupFolder }) {
    const places = { ...PLACES, group: groupFolder };
    try {
      const kept = await endBootstrap(places, new Date().toISOString().slice(0, 10));
      return kept === null
        ? 'BOOTSTRAP.md is gone.'
        : `BOOTSTRAP.md is gone; since it had been changed, its text is kept in ${kept}.`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      return 'There is no BOOTSTRAP.md: nothing is to be done.';
    }
  },
});
