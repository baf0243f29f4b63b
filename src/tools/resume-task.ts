import { defineTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskElsewhere, taskFor, taskSentence } from './task-input.ts';

export const tool = defineTool({
  name: 'resume_task',
  create: () => ({
    description: 'Lets a paused task go on with its next time.',
    isMainOnly: false,
    repeat: 'harmless',
    brings: 'own',
    input: TaskNumber,
    elsewhere: (call, { task }) => taskElsewhere(call, task),
    run: async (context, input) => taskSentence(context.tasks.resume(taskFor(context, input.task))),
  }),
});
