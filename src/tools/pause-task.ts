import type { AgentTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskFor, taskSentence } from './task-input.ts';

export const tool: AgentTool = {
  name: 'pause_task',
  description: 'Pauses a scheduled task until it is resumed.',
  isMainOnly: false,
  input: TaskNumber,
  run: async (context, input) =>
    taskSentence(context.tasks.pause(taskFor(context, TaskNumber.parse(input).task))),
};
