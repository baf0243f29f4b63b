import type { Task } from '../../store/store.ts';
import type { Ports, StorePort } from '../contracts/ports.ts';
import type { Outgoing } from '../outbound/outgoing.ts';
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

type BrokenTaskOptions = StorePort & { readonly outgoing: Outgoing };

/** Tells the chat of a task that it was paused, since it can never be due again; without a chat, the owner. */
function tellBrokenTask(
  { store, outgoing }: BrokenTaskOptions,
  { id, folder }: Task,
  reason: string,
): void {
  const text = `Task ${id} cannot run any more and was paused: ${reason}`;
  const group = store.groups.byFolder(folder);
  if (group === null || group.isMain) outgoing.tellOwner(text);
  else outgoing.say(group.jid, text);
}
