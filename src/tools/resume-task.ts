import type { AgentTool } from '../host/contracts/tool.ts';
import { TaskNumber, taskFor, taskSentence } from './task-input.ts';

export const tool: AgentTool = {
  name: 'resume_task',
  description: 'Lets a paused task go on with its next time.',
  isMainOnly: false,
  input: TaskNumber,
  run: async (context, input) =>
    taskSentence(context.tasks.resume(taskFor(context, TaskNumber.parse(input).task))),
};
