import { z } from 'zod';
import { defineTool, type ToolCall } from '../host/contracts/tool.ts';
import { namedGroup } from '../host/groups/named-group.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import type { Task } from '../store/store.ts';
import { taskSentence } from './task-input.ts';

const Input = z.object({
  group: z
    .string()
    .optional()
    .describe('Folder of one chat; only the main chat sees those of others, and all by default'),
});

/** So many runs of each task are listed. */
const RUNS = 5;

export const tool = defineTool({
  name: 'list_tasks',
  create: () => ({
    description: 'Lists the scheduled tasks that are active or paused, each with its last runs.',
    isMainOnly: false,
    repeat: 'harmless',
    brings: 'outside',
    input: Input,
    async run(context, input) {
      const { group } = input;
      const { caller, store } = context;
      const isAll = caller.isMain && group === undefined;
      const refusal = 'This chat may see its own tasks only.';
      const folder = isAll ? undefined : namedGroup(context, group, refusal).folder;
      return store.tasks.open(folder).map((task) => described(context, task));
    },
  }),
});

function described({ store }: ToolCall, task: Task) {
  const { id, folder, name, prompt, context, ifMissed, schedule } = task;
  const runs = store.taskRuns.last(id, RUNS).map(({ dueAt, outcome, summary }) => ({
    due: localTime(dueAt, schedule.timeZone),
    outcome: outcome ?? 'running',
    summary,
  }));
  const is = taskSentence(task);
  const named = name === null ? {} : { name };
  return { task: id, ...named, group: folder, is, prompt, context, ifMissed, runs };
}
