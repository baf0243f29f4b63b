import type { Group, Store, Task } from '../../store/store.ts';
import { clockTime } from './local-time.ts';
import { nextRunAfter, readSchedule, type WrittenSchedule } from './schedule.ts';
import { queueRun } from './task-firing.ts';
import { TaskRefused } from './task-refused.ts';

/** Fields of a new or changed task. */
export type TaskFields = {
  readonly name?: string | undefined;
  readonly prompt: string;
  readonly kind: WrittenSchedule['kind'];
  readonly schedule: string;
  /** The owner's own by default. */
  readonly timeZone?: string | undefined;
  readonly context?: Task['context'] | undefined;
  readonly ifMissed?: Task['ifMissed'] | undefined;
};

export type TaskChange = { readonly [Field in keyof TaskFields]?: TaskFields[Field] | undefined };

/** Makes and changes tasks, and lets the scheduler know. Rights are checked by the caller. */
export interface TaskBook {
  /** The owner's time zone. */
  readonly timeZone: string;
  schedule(fields: TaskFields, group: Group, createdBy: string): Task;
  /** Changes what is named and leaves the rest; a new schedule makes a finished task active again. */
  update(task: Task, change: TaskChange): Task;
  pause(task: Task): Task;
  /** Goes on with the next time to come; what passed in the pause was not missed. */
  resume(task: Task): Task;
  cancel(task: Task): Task;
  /** Runs a task at once, beside its schedule. */
  runNow(task: Task): void;
}

export type TaskBookOptions = {
  readonly store: Store;
  readonly now: () => number;
  readonly newId: () => string;
  readonly timeZone: string;
  /** A task has changed. */
  readonly onChanged: () => void;
  /** A turn was queued. */
  readonly onFired: () => void;
};

/** An agent that schedules tasks from tasks must come to an end somewhere. */
const MAX_OPEN_TASKS = 100;

/** @throws TaskRefused from every method but `cancel`, with what to do instead */
export function openTaskBook(options: TaskBookOptions): TaskBook {
  const { store, now, timeZone } = options;

  function save(task: Task): Task {
    store.tasks.save(task);
    options.onChanged();
    return task;
  }

  return {
    timeZone,
    schedule(fields, { folder, name }, createdBy) {
      if (store.tasks.open(folder).length >= MAX_OPEN_TASKS) {
        throw new TaskRefused(
          `${name} has ${MAX_OPEN_TASKS} tasks already. Cancel one that is not needed any more.`,
        );
      }
      const written = {
        kind: fields.kind,
        text: fields.schedule,
        timeZone: fields.timeZone ?? timeZone,
      };
      const schedule = readSchedule(written, now());
      const { name: own = null, prompt, context = 'group', ifMissed = 'run-once' } = fields;
      const nextRun = nextRunAfter(schedule, now());
      const task = { folder, name: own, prompt, schedule, context, ifMissed, nextRun, createdBy };
      const id = store.tasks.add(task, now());
      options.onChanged();
      return { ...task, id, state: 'active', lastDue: null, createdAt: now() };
    },
    update(task, change) {
      if (task.state === 'cancelled') throw new TaskRefused(cancelled(task));
      const changed = {
        ...task,
        name: change.name ?? task.name,
        prompt: change.prompt ?? task.prompt,
        context: change.context ?? task.context,
        ifMissed: change.ifMissed ?? task.ifMissed,
      };
      const { kind, schedule: text, timeZone: zone } = change;
      if (kind === undefined && text === undefined && zone === undefined) return save(changed);
      if (kind !== undefined && kind !== task.schedule.kind && text === undefined) {
        throw new TaskRefused(`Name the schedule too: this one is ${task.schedule.kind}.`);
      }
      const written = {
        kind: kind ?? task.schedule.kind,
        text: text ?? writtenAgain(task),
        timeZone: zone ?? task.schedule.timeZone,
      };
      const schedule = readSchedule(written, now());
      if (task.state === 'paused') return save({ ...changed, schedule, nextRun: null });
      return save({
        ...changed,
        schedule,
        state: 'active',
        nextRun: nextRunAfter(schedule, now()),
      });
    },
    pause(task) {
      if (task.state !== 'active') throw new TaskRefused(`Task ${task.id} is ${task.state}.`);
      return save({ ...task, state: 'paused', nextRun: null });
    },
    resume(task) {
      if (task.state !== 'paused') throw new TaskRefused(`Task ${task.id} is ${task.state}.`);
      const nextRun = nextRunAfter(task.schedule, now());
      if (nextRun === null) {
        throw new TaskRefused(`The time of task ${task.id} has passed. Give it a new one.`);
      }
      return save({ ...task, state: 'active', nextRun });
    },
    cancel: (task) => save({ ...task, state: 'cancelled', nextRun: null }),
    runNow(task) {
      if (task.state === 'cancelled') throw new TaskRefused(cancelled(task));
      const group = store.groups.byFolder(task.folder);
      if (group === null) throw new TaskRefused(`The chat of task ${task.id} is not registered.`);
      if (store.taskRuns.isOpen(task.id)) throw new TaskRefused(`Task ${task.id} is running.`);
      store.transaction(() => queueRun(options, task, { jid: group.jid, dueAt: now() }));
      options.onFired();
    },
  };
}

function cancelled({ id }: Task): string {
  return `Task ${id} was cancelled. Schedule a new one.`;
}

/** Writes a schedule again for another time zone, in which a moment keeps what its clocks showed. */
function writtenAgain({ schedule: { kind, text, anchor, timeZone } }: Task): string {
  return kind === 'at' ? clockTime(anchor, timeZone) : text;
}
