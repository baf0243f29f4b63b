import { defineTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskFor, taskSentence } from './task-input.ts';

export const tool = defineTool({
  name: 'pause_task',
  create: () => ({
    description: 'Pauses a scheduled task until it is resumed.',
    isMainOnly: false,
    repeat: 'harmless',
    input: TaskNumber,
    run: async (context, input) => taskSentence(context.tasks.pause(taskFor(context, input.task))),
  }),
});
