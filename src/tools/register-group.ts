import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import { readTrigger, TriggerInput } from '../host/groups/trigger.ts';

const Input = z.object({
  chat: z
    .string()
    .min(1)
    .describe('Name of a known chat, or its number or address from list_groups'),
  folder: z
    .string()
    .optional()
    .describe('Name for its folder: a-z, 0-9 and dashes. Made from its name by default'),
  trigger: TriggerInput.optional(),
});

export const tool = defineTool({
  name: 'register_group',
  create: () => ({
    description:
      'Registers a chat, so that the assistant takes part in it. Only when the owner asks for it. For the main chat only.',
    isMainOnly: true,
    repeat: 'once',
    brings: 'own',
    input: Input,
    elsewhere({ registry }, { chat: typed }) {
      const chat = registry.find(typed, 'known');
      return chat === null ? null : { key: chat.jid, name: chat.name ?? chat.jid };
    },
    async run({ registry }, input) {
      const { chat: typed, folder = null, trigger } = input;
      const chat = registry.find(typed, 'known');
      // Only the owner can register a person who has never written, of whom only the address is known.
      if (chat === null) {
        throw new GroupRefused(
          `No chat is called ${typed}. list_groups shows those that are known.`,
        );
      }
      const wanted = { chat, folder, trigger: trigger === undefined ? null : readTrigger(trigger) };
      const group = registry.register({ ...wanted, mayTakeOver: false });
      return `${group.name} is registered, with the folder groups/${group.folder}.`;
    },
  }),
});
