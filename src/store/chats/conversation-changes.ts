import Database from 'better-sqlite3';
import { openOutsideMarks } from '../turns/outside-marks.ts';
import { openSessions } from './sessions.ts';

/** The conversation of a folder that is to go on, or to go on no more. */
export type ConversationChange = {
  readonly folder: string;
  readonly session: string;
  readonly now: number;
};

/** The outcome of a change; `agent-at-work` means that the folder's agent was in a turn, so nothing changed. */
export type ChangeOutcome = 'changed' | 'agent-at-work';

/** Changes the conversation that a folder continues, from another program than the assistant. */
export interface ConversationChanges {
  /**
   * Lets the folder's next turn go on with an earlier conversation. What was said there may have come from outside, so
   * it is marked as if it had.
   */
  resume(change: ConversationChange): ChangeOutcome;
  /**
   * Runs `remove` while no turn of the folder begins. If the folder was going on with that conversation, its next turn
   * begins another.
   */
  remove(
    change: ConversationChange & { readonly resetId: string },
    remove: () => void,
  ): ChangeOutcome;
}

/** A turn that is claimed ends by writing into its conversation. */
const AT_WORK = `
  SELECT 1 FROM turns JOIN groups ON groups.jid = turns.jid
  WHERE turns.kind = 'agent' AND turns.state IN ('claimed', 'resuming') AND groups.folder = ? LIMIT 1`;

/**
 * Opens the assistant's database to change conversations.
 *
 * @param isRunning true while an assistant uses it: a turn that another left claimed is not at work
 */
export function withConversationChanges<T>(
  { path, isRunning }: { readonly path: string; readonly isRunning: boolean },
  work: (changes: ConversationChanges) => T,
): T {
  const database = new Database(path, { fileMustExist: true, timeout: 5_000 });
  try {
    database.pragma('synchronous = FULL');
    const sessions = openSessions(database);
    const atWork = database.prepare(AT_WORK);
    const unlessAtWork = (folder: string, change: () => void): ChangeOutcome =>
      // Immediate: the assistant claims no turn between the look and the change.
      database
        .transaction((): ChangeOutcome => {
          if (isRunning && atWork.get(folder) !== undefined) return 'agent-at-work';
          change();
          return 'changed';
        })
        .immediate();
    return work({
      resume: ({ folder, session, now }) =>
        unlessAtWork(folder, () => {
          if (sessions.get(folder) !== session) {
            const conversation = { kind: 'conversation', name: folder } as const;
            openOutsideMarks(database).add(conversation, 'an earlier conversation', now);
          }
          sessions.set(folder, session, now);
        }),
      remove: ({ folder, session, resetId, now }, remove) =>
        unlessAtWork(folder, () => {
          if (sessions.get(folder) === session) sessions.reset(folder, resetId, now);
          remove();
        }),
    });
  } finally {
    database.close();
  }
}
