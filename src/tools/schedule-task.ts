import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { namedGroup, otherGroup } from '../host/groups/named-group.ts';
import { taskFields, taskSentence } from './task-input.ts';

const { name, prompt, kind, schedule, time_zone, context, if_missed } = taskFields;
const Input = z.object({
  name: name.optional(),
  prompt,
  kind,
  schedule,
  time_zone: time_zone.optional(),
  context: context.optional(),
  if_missed: if_missed.optional(),
  group: z
    .string()
    .optional()
    .describe('Folder of the chat it runs in, if not this one; only the main chat may name one'),
});

export const tool = defineTool({
  name: 'schedule_task',
  create: () => ({
    description:
      'Schedules something for you to do later, once or again and again. When it is due you are given the prompt, and your answer is sent to the chat.',
    doing: 'scheduling',
    isMainOnly: false,
    repeat: 'once',
    brings: 'own',
    input: Input,
    elsewhere: (call, { group }) => otherGroup(call, group),
    async run(toolContext, input) {
      const { caller, tasks } = toolContext;
      const group = namedGroup(
        toolContext,
        input.group,
        'This chat may schedule tasks for itself only.',
      );
      const task = tasks.schedule(
        { ...input, timeZone: input.time_zone, ifMissed: input.if_missed },
        group,
        caller.folder,
      );
      return taskSentence(task);
    },
  }),
});
