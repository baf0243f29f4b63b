import { z } from 'zod';
import type { Group, Turn } from '../../store/store.ts';
import type { ClockPort, IdPort, StorePort, TimeZonePort } from '../contracts/ports.ts';
import type { QueuedMessage, QueuedTurn, ToolChoice } from '../contracts/service.ts';
import { queueRun } from '../scheduler/task-firing.ts';

const Names = z.array(z.string()).readonly();

const Notes = z.object({
  service: z.string(),
  taskType: z.string(),
  pool: z.string().optional(),
  system: z.string().optional(),
  tools: z.object({ only: Names.optional(), without: Names.optional() }).optional(),
});

/** Notes that a turn of a service keeps: they outlive the process that queued it. */
export type QueuedBy = z.output<typeof Notes>;

const Payload = z.object({ queuedBy: Notes });

/** Returns who queued a turn; null for one that no service asked for. */
export function queuedByOf({ kind, payload }: Pick<Turn, 'kind' | 'payload'>): QueuedBy | null {
  return kind === 'agent' ? (Payload.safeParse(payload).data?.queuedBy ?? null) : null;
}

/** Returns the kind of a turn's work, by which routers and sections of the prompt can tell turns apart. */
export function taskTypeOf(turn: Turn, { isTask }: { readonly isTask: boolean }): string {
  return queuedByOf(turn)?.taskType ?? (isTask ? 'task' : 'chat');
}

/** Returns the tools that a turn may have, as far as the service that queued it decides that. */
export function toolChoiceOf(turn: Pick<Turn, 'kind' | 'payload'>): ToolChoice {
  return queuedByOf(turn)?.tools ?? {};
}

type QueueOptions = StorePort &
  ClockPort &
  IdPort &
  TimeZonePort & { readonly onQueued: () => void };

/**
 * Queues a turn of a service as the one run of a task that is done: it survives a crash, and its log is
 * kept. Older tasks of this service are deleted, once they are over.
 */
export function queueTurn(
  { store, now, newId, timeZone, onQueued }: QueueOptions,
  service: string,
  turn: QueuedTurn,
): string {
  const { folder, prompt, context = 'isolated', taskType = service, jid } = turn;
  const { pool, system, tools, isBeside = false, brings = 'outside' } = turn;
  if (turn.id !== undefined && store.taskRuns.ofTurn(turn.id) !== null) return turn.id;
  const group = groupOf(store, { folder, jid });
  const at = now();
  const turnId = turn.id ?? newId();
  const queuedBy = { service, taskType, pool, system, tools };
  store.transaction(() => {
    const schedule = { kind: 'at', text: `by ${service}`, timeZone, anchor: at } as const;
    const asked = { folder, prompt, schedule, context, ifMissed: 'run-once' } as const;
    const id = store.tasks.add({ ...asked, nextRun: at, createdBy: service }, at);
    store.tasks.advance(id, { from: at, to: null });
    const task = store.tasks.byId(id);
    if (task === null) throw new Error(`Task ${id} is gone.`);
    const run = { jid: group.jid, dueAt: at, queuedBy, isBeside };
    queueRun({ store, now, newId: () => turnId }, task, run);
    const mark = { kind: 'turn', name: turnId } as const;
    if (brings === 'outside') store.outsideMarks.add(mark, `a message of ${service}`, at);
    // A service that looks every half hour would leave 17,000 tasks a year.
    store.tasks.trimQueued(task);
  });
  onQueued();
  return turnId;
}

/** Queues a message of a service's, once for each id. */
export function queueMessage(
  { store, now, onQueued }: StorePort & ClockPort & { readonly onQueued: () => void },
  { id: messageId, folder, text, jid }: QueuedMessage,
): void {
  store.transaction(() => {
    if (store.outbox.has(messageId)) return;
    store.outbox.add({ messageId, jid: groupOf(store, { folder, jid }).jid, text }, now());
  });
  onQueued();
}

function groupOf(
  { groups }: StorePort['store'],
  { folder, jid }: { readonly folder: string; readonly jid: string | undefined },
): Group {
  const group = jid === undefined ? groups.byFolder(folder) : groups.byJid(jid);
  if (group?.folder !== folder) throw new Error(`No chat is registered with the folder ${folder}.`);
  return group;
}

/**
 * Sees to it that a turn of a service never begins.
 *
 * @returns false where the service has none of this id, or it is over
 */
export function withdrawTurn({ store }: StorePort, service: string, id: string): boolean {
  const run = store.taskRuns.ofTurn(id);
  const task = run === null ? null : store.tasks.byId(run.taskId);
  if (run === null || task?.createdBy !== service || run.finishedAt !== null) return false;
  store.tasks.save({ ...task, state: 'cancelled' });
  return true;
}
