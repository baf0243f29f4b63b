import type { Store, Task } from '../../store/store.ts';
import { nextRunAfter } from './schedule.ts';

/** Later than this after its time, a run was missed: the assistant was down, or the machine slept. */
const MISSED_MS = 60_000;

export type FireOptions = {
  readonly store: Store;
  readonly now: () => number;
  readonly newId: () => string;
};

export type Fired = 'fired' | 'skipped' | 'taken';

/**
 * Takes the time that a task is due at, and makes a turn of it unless it has to be skipped.
 *
 * All in one transaction, whose first statement is the claim: a process that is killed leaves either
 * a task that is still due, or a turn in the queue, which is answered once like any other. Of two
 * that try, one finds the time taken.
 */
export function fireTask({ store, now, newId }: FireOptions, task: Task): Fired {
  const { id: taskId, nextRun: dueAt } = task;
  if (dueAt === null) return 'taken';
  const at = now();
  const to = nextRunAfter(task.schedule, Math.max(at, dueAt));
  return store.transaction(() => {
    if (!store.tasks.advance(taskId, { from: dueAt, to })) return 'taken';
    const group = store.groups.byFolder(task.folder);
    const skip = (summary: string): Fired => {
      store.taskRuns.skip({ taskId, dueAt, summary }, at);
      return 'skipped';
    };
    if (group === null) return skip('the chat is not registered');
    if (task.ifMissed === 'skip' && isLate(dueAt, at)) return skip('missed');
    if (store.taskRuns.isOpen(taskId)) return skip('the run before it had not ended');
    queueRun({ store, now, newId }, task, { jid: group.jid, dueAt });
    return 'fired';
  });
}

type RunOfTask = {
  readonly jid: string;
  readonly dueAt: number;
  readonly queuedBy?: object;
  readonly isBeside?: boolean;
};

/** Makes a turn of a task and notes it as its run. Belongs into a transaction. */
export function queueRun(
  { store, now, newId }: FireOptions,
  { id: taskId, context }: Task,
  { jid, dueAt, queuedBy, isBeside }: RunOfTask,
): void {
  const turnId = newId();
  const seesChat = context === 'group';
  store.turns.queueTask({ id: turnId, jid, taskId, seesChat, queuedBy, isBeside }, now());
  store.taskRuns.fire({ taskId, dueAt, turnId }, now());
}

/** Tells whether a run started so late that it counts as missed. */
export function isLate(dueAt: number, firedAt: number): boolean {
  return firedAt - dueAt > MISSED_MS;
}
