import { z } from 'zod';
import { defineGuard } from '../host/contracts/guard.ts';

const ToAnotherChat = z.object({ group: z.string() });

export const guard = defineGuard({
  name: 'careful',
  order: 300,
  create: () => ({
    before({ tool, group, input }) {
      const { data } = ToAnotherChat.safeParse(input);
      const isElsewhere = data !== undefined && data.group !== group.folder;
      return tool.name === 'send_message' && isElsewhere
        ? { kind: 'ask', reason: 'It goes to another chat.' }
        : { kind: 'allow' };
    },
  }),
});
