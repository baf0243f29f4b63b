import { z } from 'zod';
import type { Elsewhere, ToolCall } from '../host/contracts/tool.ts';
import { chatOf } from '../host/groups/named-group.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { describeSchedule } from '../host/scheduler/schedule.ts';
import { ToolFault } from '../lib/tool-fault.ts';
import type { Task } from '../store/store.ts';

/** The longest name of a task, in characters. */
const MAX_TASK_NAME = 80;

/** Fields of a task, for the tools that make or change one. */
export const taskFields = {
  name: z
    .string()
    .trim()
    .min(1)
    .max(MAX_TASK_NAME)
    .describe('A few words by which people know it, such as "morning mail"'),
  prompt: z
    .string()
    .min(1)
    .max(20_000)
    .describe('What to do when it is due, as a message to yourself that can be understood alone'),
  kind: z
    .enum(['cron', 'every', 'at'])
    .describe('cron for times of day, every for an interval, at for once'),
  schedule: z
    .string()
    .max(200)
    .describe(
      'cron: five fields, "30 8 * * 1-5"; every: "15 minutes", "2 hours", at least a minute; at: local time "2026-12-24T18:00", or "in 20 minutes"',
    ),
  time_zone: z.string().max(100).describe("Such as Europe/Berlin; the owner's own when left out"),
  context: z
    .enum(['group', 'isolated'])
    .describe(
      "group (the default) goes on with this chat's conversation; isolated starts without any of it",
    ),
  if_missed: z
    .enum(['run-once', 'skip'])
    .describe(
      'What to do about times that passed while the assistant was down: run once, late (the default), or not at all',
    ),
};

/** Names a task by its number, for the tools that need nothing else. */
export const TaskNumber = z.object({ task: z.int().describe('Number of the task') });

/**
 * Returns the task that a caller means. To those who may not know of it there is none of that number.
 *
 * @throws Error in words for the agent
 */
export function taskFor({ caller, store }: Pick<ToolCall, 'caller' | 'store'>, id: number): Task {
  const task = store.tasks.byId(id);
  if (task !== null && (caller.isMain || task.folder === caller.folder)) return task;
  throw new ToolFault(
    'not-found',
    `There is no task ${id}${caller.isMain ? '' : ' of this chat'}. See list_tasks.`,
  );
}

/** Returns the chat of a task that is not the caller's own. */
export function taskElsewhere(
  call: Pick<ToolCall, 'caller' | 'store'>,
  id: number,
): Elsewhere | null {
  const { folder } = taskFor(call, id);
  if (folder === call.caller.folder) return null;
  const group = call.store.groups.byFolder(folder);
  return group === null ? { key: folder, name: folder } : chatOf(group);
}

/** Returns one sentence on what a task is now. */
export function taskSentence({ id, name, state, schedule, nextRun }: Task): string {
  const next =
    nextRun === null
      ? ''
      : `, next ${localTime(nextRun, schedule.timeZone)} (${schedule.timeZone})`;
  return `Task ${id}${name === null ? '' : ` (${name})`}: ${state}, ${describeSchedule(schedule)}${next}.`;
}
