import type { Store, Task, TaskRun, Turn } from '../../store/store.ts';
import { describeDuration } from './duration.ts';
import { localTime } from './local-time.ts';
import { describeSchedule } from './schedule.ts';
import { isLate } from './task-firing.ts';

/** The turn of a task; no person waits for its answer. */
export type TaskTurn = { readonly task: Task; readonly run: TaskRun };

/** Returns the task of a turn; null for a turn that answers a message. */
export function taskOfTurn(store: Store, turn: Turn): TaskTurn | null {
  const run = store.taskRuns.ofTurn(turn.id);
  const task = run === null ? null : store.tasks.byId(run.taskId);
  return run === null || task === null ? null : { task, run };
}

/**
 * Returns the agent's prompt: that this is a task and how to stay silent, messages since the last turn, the
 * task.
 */
export function taskPrompt({ task, run }: TaskTurn, said: string): string {
  const { timeZone } = task.schedule;
  const late = isLate(run.dueAt, run.firedAt) ? `, ${lateness(run)} late` : '';
  const head = `[Scheduled task ${task.id}, ${describeSchedule(task.schedule)}, due ${localTime(run.dueAt, timeZone)}${late}. Nobody is waiting: what you answer is sent to the chat as a message of its own. When there is nothing worth a message, call stay_silent.]`;
  const context = said === '' ? [] : [`Said in the chat since your last turn:\n${said}`];
  return [head, ...context, `The task:\n${task.prompt}`].join('\n\n');
}

/** Returns the delay of a run, in a unit of which there are at least two. */
function lateness({ dueAt, firedAt }: TaskRun): string {
  const lateMs = firedAt - dueAt;
  const unitMs = [86_400_000, 3_600_000].find((ms) => lateMs >= 2 * ms) ?? 60_000;
  return describeDuration(Math.max(2, Math.round(lateMs / unitMs)) * unitMs);
}
