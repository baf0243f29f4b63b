import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';

export const tool = defineTool({
  name: 'stay_silent',
  create: () => ({
    description:
      'Only in a scheduled task: nothing that you write in this turn is sent to the chat, for when there is nothing worth a message.',
    isMainOnly: false,
    repeat: 'each-run',
    brings: 'own',
    isTaskOnly: true,
    input: z.object({}),
    async run({ staySilent }) {
      staySilent?.();
      return 'Nothing will be sent.';
    },
  }),
});
