import type { Store, Task, TaskRun, Turn } from '../../store/store.ts';
import { describeDuration } from './duration.ts';
import { isLate } from './fire.ts';
import { localTime } from './local-time.ts';
import { describeSchedule } from './schedule.ts';

/** A turn that a task asks for, and nobody waits for. */
export type TaskTurn = { readonly task: Task; readonly run: TaskRun };

/** The task behind a turn; null for a turn that somebody asked for. */
export function taskOfTurn(store: Store, turn: Turn): TaskTurn | null {
  const run = store.taskRuns.ofTurn(turn.id);
  const task = run === null ? null : store.tasks.byId(run.taskId);
  return run === null || task === null ? null : { task, run };
}

/** What the agent reads: that this is a task and how to stay silent, what was said since, the task. */
export function taskPrompt({ task, run }: TaskTurn, said: string): string {
  const { timeZone } = task.schedule;
  const late = isLate(run.dueAt, run.firedAt) ? `, ${lateness(run)} late` : '';
  const head = `[Scheduled task ${task.id}, ${describeSchedule(task.schedule)}, due ${localTime(run.dueAt, timeZone)}${late}. Nobody is waiting: what you answer is sent to the chat as a message of its own. When there is nothing worth a message, call stay_silent.]`;
  const context = said === '' ? [] : [`Said in the chat since your last turn:\n${said}`];
  return [head, ...context, `The task:\n${task.prompt}`].join('\n\n');
}

/** How late a run is, in a unit of which there are at least two. */
function lateness({ dueAt, firedAt }: TaskRun): string {
  const lateMs = firedAt - dueAt;
  const unitMs = [86_400_000, 3_600_000].find((ms) => lateMs >= 2 * ms) ?? 60_000;
  return describeDuration(Math.max(2, Math.round(lateMs / unitMs)) * unitMs);
}
