import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import { namedGroup, otherGroup } from '../host/groups/named-group.ts';
import { readTrigger, TriggerInput } from '../host/groups/trigger.ts';

const Input = z.object({
  group: z.string().min(1).describe('Name or folder of the registered chat'),
  trigger: TriggerInput,
});

export const tool = defineTool({
  name: 'set_trigger',
  create: () => ({
    description: 'Sets when the assistant answers in a registered chat. For the main chat only.',
    isMainOnly: true,
    repeat: 'harmless',
    brings: 'own',
    input: Input,
    elsewhere: (call, { group }) => otherGroup(call, group),
    async run(context, input) {
      const { group: wanted, trigger } = input;
      const group = namedGroup(context, wanted, 'Only the main chat may do that.');
      if (group.isMain) throw new GroupRefused('The main chat needs no trigger.');
      context.registry.setTrigger(group, readTrigger(trigger));
      return `The trigger of ${group.name} is set.`;
    },
  }),
});
