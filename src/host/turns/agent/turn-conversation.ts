import type { Group, NextSession } from '../../../store/store.ts';
import type { ClockPort, SettingsPort, StorePort } from '../../contracts/ports.ts';
import type { TaskTurn } from '../../scheduler/task-turn.ts';

const HOUR_MS = 3_600_000;

/** The conversation that a turn belongs to. */
export type TurnConversation = {
  readonly folder: string;
  /** Resumed by this id; null begins another. */
  readonly session: string | null;
  /** True if it begins after another has ended, by silence or by the owner's word. */
  readonly beginsAnew: boolean;
  /** The folder's earlier conversation; undefined for a turn that none continues. */
  readonly before: string | null | undefined;
};

/** Finds the conversation that a turn continues; a long silence ends a conversation. */
export function conversationOfTurn(
  { store, settings, now }: StorePort & SettingsPort & ClockPort,
  { folder }: Group,
  task: TaskTurn | null,
): TurnConversation {
  if (task?.task.context === 'isolated') {
    return { folder, session: null, beginsAnew: false, before: undefined };
  }
  const hours = settings.sessionExpiryHours;
  const session = store.sessions.resumable(folder, hours === 0 ? 0 : now() - hours * HOUR_MS);
  const before = store.sessions.get(folder);
  return { folder, session, beginsAnew: session === null && before !== null, before };
}

/** Returns the conversation for the folder's next turn, once this one was answered. */
export function nextConversation(
  { folder, before }: TurnConversation,
  session: string,
): NextSession | null {
  return before === undefined ? null : { folder, session, before };
}
