import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';

/** The most unregistered chats that an agent is shown. */
const MAX_KNOWN = 50;

export const tool = defineTool({
  name: 'list_groups',
  create: () => ({
    description:
      'Lists the registered chats, and those that are only known and could be registered. For the main chat only.',
    isMainOnly: true,
    repeat: 'harmless',
    brings: 'outside',
    input: z.object({}),
    async run({ registry }) {
      const { groups, known, names } = registry.list();
      return {
        registered: groups.map(({ number, name, folder, isMain, ...group }) => ({
          number,
          name: names.get(group.jid) ?? name,
          folder,
          isMain,
          trigger: group.needsTrigger ? (group.triggerWord ?? 'default') : 'always',
        })),
        known: known.slice(0, MAX_KNOWN).map(({ number, name, jid }) => ({
          number,
          name: names.get(jid) ?? name,
          jid,
        })),
      };
    },
  }),
});
