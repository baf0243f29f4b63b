import type { Outgoing } from '../outbound/outgoing.ts';
import { tellBrokenTask } from '../scheduler/broken-task.ts';
import { openDueTasks } from '../scheduler/due-tasks.ts';
import { openTaskBook, type TaskBook } from '../scheduler/task-book.ts';
import { runServices, type Services, type ServicesOptions } from './services.ts';

/** Work that no message asks for: the tasks of chats, and services, one of which says when tasks are due. */
export type Background = { readonly tasks: TaskBook; readonly services: Services };

export type BackgroundOptions = Omit<ServicesOptions, 'dueTasks'> & {
  readonly outgoing: Outgoing;
};

/** Opens the tasks and makes the services ready; none is started. */
export function openBackground(options: BackgroundOptions): Background {
  const { store, settings, now, setTimer, timeZone, newId, log, timeouts, onQueued } = options;
  const { onMessageQueued } = options;
  const { outgoing, http, databases, projectDir, sandbox, calls, stopTurn, embed } = options;
  const { channels, channelOf } = options;
  const dueTasks = openDueTasks({
    store,
    now,
    newId,
    log,
    onFired: onQueued,
    onBroken: (task, reason) => tellBrokenTask({ store, outgoing }, task, reason),
  });
  const tasks = openTaskBook({
    store,
    now,
    newId,
    timeZone,
    onChanged: dueTasks.changed,
    onFired: onQueued,
  });
  const services = runServices({
    services: options.services,
    databases,
    projectDir,
    sandbox,
    calls,
    stopTurn,
    embed,
    channels,
    channelOf,
    store,
    settings,
    http,
    now,
    setTimer,
    timeZone,
    newId,
    log,
    timeouts,
    dueTasks,
    onQueued,
    onMessageQueued,
  });
  return { tasks, services };
}
