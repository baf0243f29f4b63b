import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { namedGroup, otherGroup } from '../host/groups/named-group.ts';

const Input = z.object({
  group: z.string().min(1).describe('Name or folder of the registered chat'),
});

export const tool = defineTool({
  name: 'unregister_group',
  create: () => ({
    description:
      'Takes the assistant out of a chat; its folder stays. Only when the owner asks for it. For the main chat only.',
    isMainOnly: true,
    repeat: 'once',
    brings: 'own',
    input: Input,
    elsewhere: (call, { group }) => otherGroup(call, group),
    async run(context, input) {
      const group = namedGroup(context, input.group, 'Only the main chat may do that.');
      await context.registry.unregister(group);
      return `${group.name} is not listened to any more. groups/${group.folder} stays; the owner can delete it with /unregister ${group.folder} delete.`;
    },
  }),
});
