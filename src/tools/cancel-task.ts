import { defineTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskFor, taskSentence } from './task-input.ts';

export const tool = defineTool({
  name: 'cancel_task',
  create: () => ({
    description: 'Cancels a scheduled task for good.',
    isMainOnly: false,
    repeat: 'harmless',
    input: TaskNumber,
    run: async (context, input) => taskSentence(context.tasks.cancel(taskFor(context, input.task))),
  }),
});
