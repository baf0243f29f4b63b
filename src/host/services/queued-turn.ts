import { z } from 'zod';
import type { Turn } from '../../store/store.ts';
import type { ClockPort, IdPort, StorePort, TimeZonePort } from '../contracts/ports.ts';
import type { QueuedTurn } from '../contracts/service.ts';
import { queueRun } from '../scheduler/fire.ts';

/** Notes that a turn of a service keeps: they outlive the process that queued it. */
export type QueuedBy = {
  readonly service: string;
  readonly taskType: string;
};

const Payload = z.object({
  queuedBy: z.object({ service: z.string(), taskType: z.string() }),
});

/** Returns who queued a turn; null for one that no service asked for. */
export function queuedByOf({ kind, payload }: Turn): QueuedBy | null {
  return kind === 'agent' ? (Payload.safeParse(payload).data?.queuedBy ?? null) : null;
}

/** Returns the kind of a turn's work, by which routers and sections of the prompt can tell turns apart. */
export function taskTypeOf(turn: Turn, { isTask }: { readonly isTask: boolean }): string {
  return queuedByOf(turn)?.taskType ?? (isTask ? 'task' : 'chat');
}

type QueueOptions = StorePort &
  ClockPort &
  IdPort &
  TimeZonePort & { readonly onQueued: () => void };

/**
 * Queues a turn of a service as the one run of a task that is done: it survives a crash, and its log is
 * kept.
 */
export function queueTurn(
  { store, now, newId, timeZone, onQueued }: QueueOptions,
  service: string,
  { folder, prompt, context = 'isolated', taskType = service }: QueuedTurn,
): string {
  const group = store.groups.byFolder(folder);
  if (group === null) throw new Error(`No chat is registered with the folder ${folder}.`);
  const at = now();
  const turnId = newId();
  const queuedBy: QueuedBy = { service, taskType };
  store.transaction(() => {
    const schedule = { kind: 'at', text: `by ${service}`, timeZone, anchor: at } as const;
    const asked = { folder, prompt, schedule, context, ifMissed: 'run-once' } as const;
    const id = store.tasks.add({ ...asked, nextRun: at, createdBy: service }, at);
    store.tasks.advance(id, { from: at, to: null });
    const task = store.tasks.byId(id);
    if (task === null) throw new Error(`Task ${id} is gone.`);
    const run = { jid: group.jid, dueAt: at, queuedBy };
    queueRun({ store, now, newId: () => turnId }, task, run);
  });
  onQueued();
  return turnId;
}
