import type { Task } from '../../store/store.ts';
import type { StorePort } from '../contracts/ports.ts';
import type { Outgoing } from '../outbound/outgoing.ts';

type BrokenTaskOptions = StorePort & { readonly outgoing: Outgoing };

/** Tells the chat of a task that it was paused, since it can never be due again; without a chat, the owner. */
export function tellBrokenTask(
  { store, outgoing }: BrokenTaskOptions,
  { id, folder }: Task,
  reason: string,
): void {
  const text = `Task ${id} cannot run any more and was paused: ${reason}`;
  const group = store.groups.byFolder(folder);
  if (group === null || group.isMain) outgoing.tellOwner(text);
  else outgoing.say(group.jid, text);
}
