import { z } from 'zod';
import { defineTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskElsewhere, taskFields, taskFor, taskSentence } from './task-input.ts';

const Input = z.object({ ...TaskNumber.shape, ...z.object(taskFields).partial().shape });

export const tool = defineTool({
  name: 'update_task',
  create: () => ({
    description:
      'Changes a scheduled task, only in the fields that are given. A new schedule makes a finished one active again.',
    isMainOnly: false,
    repeat: 'once',
    brings: 'own',
    input: Input,
    elsewhere: (call, { task }) => taskElsewhere(call, task),
    async run(context, input) {
      const { task: id, time_zone: timeZone, if_missed: ifMissed, ...change } = input;
      const task = taskFor(context, id);
      return taskSentence(context.tasks.update(task, { ...change, timeZone, ifMissed }));
    },
  }),
});
