import { defineTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskElsewhere, taskFor, taskSentence } from './task-input.ts';

export const tool = defineTool({
  name: 'cancel_task',
  create: () => ({
    description: 'Cancels a scheduled task for good.',
    isMainOnly: false,
    repeat: 'harmless',
    brings: 'own',
    input: TaskNumber,
    elsewhere: (call, { task }) => taskElsewhere(call, task),
    run: async (context, input) => taskSentence(context.tasks.cancel(taskFor(context, input.task))),
  }),
});
