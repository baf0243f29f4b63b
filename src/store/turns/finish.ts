import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { Asks, NewAsk } from '../asks.ts';
import type { NextSession, Sessions } from '../chats/sessions.ts';
import { EDITABLE_MS, IS_LAST } from '../drafts.ts';
import { PRESS } from '../messages/messages.ts';
import type { Outbox } from '../outbox.ts';
import type { KeptChoices, KeptFile } from '../outbox-message.ts';
import type { RunEnd, TaskRuns } from './task-runs.ts';
import { FORGET_CALLS } from './turn-calls.ts';

/** The end of a claimed turn, and the messages to its chat. */
export type TurnEnd = {
  readonly id: string;
  /** The holder of the lease that the turn must still be under. */
  readonly owner: string;
  readonly jid: string;
  readonly state: 'answered' | 'failed' | 'gave_up';
  readonly error: string | null;
  readonly messages: readonly {
    readonly messageId: string;
    readonly text: string;
    readonly choices?: KeptChoices | null;
    readonly attachments?: readonly KeptFile[];
  }[];
  readonly session: NextSession | null;
  /** The question that the last message asks; null when it asks none. */
  readonly question: NewAsk | null;
  /** The entry for the log of its task; null for a turn that a person asked for. */
  readonly run: RunEnd | null;
};

const Asked = z.object({ id: z.string() });
const Drafted = z.object({ message_id: z.string() });

type Tables = {
  readonly asks: Asks;
  readonly outbox: Outbox;
  readonly sessions: Sessions;
  readonly taskRuns: TaskRuns;
};

/**
 * Writes the end of a turn in one transaction: its state, the messages to send, the session, the run of its
 * task. A crash therefore leaves either a turn that runs again or one whose answer will arrive. The first message
 * replaces the draft that the chat shows last; another draft stays noted, to be taken away.
 *
 * @returns false, with nothing written, when the turn is gone or no longer its owner's
 */
export function createFinisher(
  database: Database,
  { asks, outbox, sessions, taskRuns }: Tables,
): (end: TurnEnd, now: number) => boolean {
  const close = database.prepare(`
    UPDATE turns SET state = :state, error = :error, lease_owner = NULL, lease_until = NULL
    WHERE id = :id AND state = 'claimed' AND lease_owner = :owner`);
  const forgetCalls = database.prepare(FORGET_CALLS);
  // Where others have talked on in a group, the answer shows which message it is for.
  const laterOf = database.prepare(`
    SELECT messages.id FROM turns
    JOIN messages ON messages.seq = turns.upto_seq AND messages.jid = turns.jid
    JOIN chats ON chats.jid = turns.jid AND chats.is_direct = 0
    WHERE turns.id = ? AND (turns.kind = 'command' OR turns.payload IS NULL)
    AND messages.id NOT GLOB '${PRESS}*' AND EXISTS (SELECT 1 FROM messages AS later
                WHERE later.jid = turns.jid AND later.seq > turns.upto_seq)`);
  const lastDraft = database.prepare(`
    SELECT message_id FROM drafts JOIN turns ON turns.id = drafts.turn_id
    WHERE turns.id = :id AND ${IS_LAST}`);
  const dropDraft = database.prepare('DELETE FROM drafts WHERE turn_id = ?');

  /** Returns the draft that a turn's first message replaces. A question comes with what is pressed, as its own message. */
  function takeDraft(id: string, { messages: [first] }: TurnEnd, now: number): string | null {
    if (first === undefined || (first.choices ?? null) !== null) return null;
    const draft = Drafted.optional().parse(lastDraft.get({ id, since: now - EDITABLE_MS }));
    if (draft === undefined) return null;
    dropDraft.run(id);
    return draft.message_id;
  }

  return database.transaction((end: TurnEnd, now: number) => {
    const { id, owner, state, error } = end;
    if (close.run({ id, owner, state, error }).changes === 0) return false;
    forgetCalls.run({ id });
    const asked = Asked.optional().parse(laterOf.get(id))?.id ?? null;
    const draft = takeDraft(id, end, now);
    for (const [index, message] of end.messages.entries()) {
      const place = index === 0 ? { replyTo: asked, replaces: draft } : {};
      outbox.add({ ...message, ...place, jid: end.jid, turnId: id }, now);
    }
    if (end.session !== null) sessions.replace(end.session, now);
    if (end.question !== null) asks.open(end.question, now);
    if (end.run !== null) taskRuns.finish(id, end.run, now);
    return true;
  });
}
