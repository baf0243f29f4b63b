import { z } from 'zod';
import type { AgentTool } from '../tool.ts';

export const tool: AgentTool = {
  name: 'list_groups',
  description: 'Lists the registered chats by name and folder. For the main chat only.',
  isMainOnly: true,
  input: z.object({}),
  run: async ({ store }) =>
    store.groups.all().map(({ name, folder, isMain }) => ({ name, folder, isMain })),
};
