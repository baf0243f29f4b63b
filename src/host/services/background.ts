import type { Ports } from '../contracts/ports.ts';
import type { Outgoing } from '../outbound/outgoing.ts';
import { tellBrokenTask } from '../scheduler/broken-task.ts';
import { openDueTasks } from '../scheduler/due-tasks.ts';
import { openTaskBook, type TaskBook } from '../scheduler/task-book.ts';
import { runServices, type Services, type ServicesOptions } from './services.ts';

/** Work that no message asks for: the tasks of chats, and services, one of which says when tasks are due. */
export type Background = { readonly tasks: TaskBook; readonly services: Services };

export type BackgroundOptions = Omit<ServicesOptions, keyof Ports | 'dueTasks'> & {
  readonly ports: Ports;
  readonly outgoing: Outgoing;
};

/** Opens the tasks and makes the services ready; none is started. */
export function openBackground({ ports, outgoing, ...parts }: BackgroundOptions): Background {
  const { store } = ports;
  const onFired = parts.onQueued;
  const dueTasks = openDueTasks({
    ...ports,
    onFired,
    onBroken: (task, reason) => tellBrokenTask({ store, outgoing }, task, reason),
  });
  const tasks = openTaskBook({ ...ports, onChanged: dueTasks.changed, onFired });
  const services = runServices({ ...ports, ...parts, dueTasks });
  return { tasks, services };
}
