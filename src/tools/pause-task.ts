import { defineTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskElsewhere, taskFor, taskSentence } from './task-input.ts';

export const tool = defineTool({
  name: 'pause_task',
  create: () => ({
    description: 'Pauses a scheduled task until it is resumed.',
    isMainOnly: false,
    repeat: 'harmless',
    brings: 'own',
    input: TaskNumber,
    elsewhere: (call, { task }) => taskElsewhere(call, task),
    run: async (context, input) => taskSentence(context.tasks.pause(taskFor(context, input.task))),
  }),
});
