import type { AgentTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskFor, taskSentence } from './task-input.ts';

export const tool: AgentTool = {
  name: 'cancel_task',
  description: 'Cancels a scheduled task for good.',
  isMainOnly: false,
  input: TaskNumber,
  run: async (context, input) =>
    taskSentence(context.tasks.cancel(taskFor(context, TaskNumber.parse(input).task))),
};
