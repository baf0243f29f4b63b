import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { CURRENT_JID } from './chats/chats.ts';
import { createThroughIndex } from './messages/search-index.ts';
import { type NewOutbound, type Outbound, parseFiles, parseOutbound } from './outbox-message.ts';

/** A message that was sent twice, both times without an outcome. */
export type UnknownOutcome = {
  readonly messageId: string;
  readonly jid: string;
  readonly error: string;
};

export interface Outbox {
  /** @throws when `jid` is not a registered group: nothing is ever sent to those */
  add(message: NewOutbound, now: number): void;
  /** Returns the first unsent message of every chat that has one: the order within a chat is kept. */
  heads(): readonly Outbound[];
  has(messageId: string): boolean;
  markSending(messageId: string): void;
  markSent(messageId: string): void;
  /** Notes that the far end did not take a message: it is tried again at `nextTryAt`. */
  postpone(messageId: string, nextTryAt: number, error: string): void;
  /** Notes that a message is not to be sent before `notBefore`, which counts as no refusal. */
  keep(messageId: string, notBefore: number, error: string): void;
  /**
   * Notes that a message was perhaps taken: it is repeated once at `nextTryAt`; the second time its outcome
   * stays unknown.
   */
  markUnknown(messageId: string, nextTryAt: number, error: string): 'repeated' | 'unknown';
  giveUp(messageId: string, error: string): void;
  /** Marks at start that sends of a dead process have an unknown outcome. Returns those that stay unknown. */
  recover(now: number): readonly UnknownOutcome[];
  hasUnsent(jid: string): boolean;
  hasUnsentOf(turnId: string): boolean;
  /** Tells whether a message waits that nobody can have read, not even of a send whose outcome is unknown. */
  isUnread(messageId: string): boolean;
  /**
   * Returns what its turn said of its progress before this message, with nothing else said in the chat in
   * between: the id under which that is shown, and all of its text. Null where there is none, or where it was
   * first said before `since`.
   */
  progressBefore(message: Outbound, since: number): Pick<Outbound, 'messageId' | 'text'> | null;
  /** Returns the copies that go along with messages which are not sent yet. */
  copiesToSend(): readonly string[];
}

const Said = z.object({ message_id: z.string(), text: z.string(), created_at: z.int() });
const Sending = z.object({ message_id: z.string(), jid: z.string() });
const Files = z.object({ attachments: z.string() });

export function openOutbox(database: Database): Outbox {
  const insert = database.prepare(`
    INSERT INTO outbox (message_id, jid, text, turn_id, is_progress, is_reaction, reply_to, attachments, choices,
      replaces, thread, state, created_at)
    VALUES (:messageId, ${CURRENT_JID}, :text, :turnId, :isProgress, :isReaction, :replyTo, :attachments, :choices,
      :replaces,
      (SELECT messages.thread FROM turns JOIN messages ON messages.seq = turns.upto_seq
       WHERE turns.id = :threadOf AND turns.jid = ${CURRENT_JID}
       AND (turns.kind = 'command' OR turns.payload IS NULL)),
      'queued', :now)`);
  const heads = database.prepare(`
    SELECT outbox.seq, message_id, outbox.jid, outbox.text, turn_id, is_progress, is_reaction, attempts,
      EXISTS (SELECT 1 FROM turns WHERE turns.id = turn_id AND turns.kind = 'agent') AS is_agents,
      repeats, next_try_at, outbox.created_at, attachments, choices, replaces, outbox.thread, messages.id AS reply_id,
      messages.sender AS reply_sender, messages.text AS reply_text
    FROM outbox LEFT JOIN messages ON messages.jid = outbox.jid AND messages.id = outbox.reply_to
    WHERE outbox.seq IN
      (SELECT min(seq) FROM outbox WHERE state IN ('queued', 'sending') GROUP BY jid)
      AND state = 'queued' ORDER BY outbox.seq`);
  const setState = database.prepare(
    'UPDATE outbox SET state = :state, error = :error WHERE message_id = :messageId',
  );
  const postpone = database.prepare(`
    UPDATE outbox SET state = 'queued', attempts = attempts + 1, next_try_at = :nextTryAt,
      error = :error WHERE message_id = :messageId`);
  const keep = database.prepare(`
    UPDATE outbox SET state = 'queued', next_try_at = :notBefore, error = :error
    WHERE message_id = :messageId`);
  const repeat = database.prepare(`
    UPDATE outbox SET state = 'queued', repeats = repeats + 1, next_try_at = :nextTryAt,
      error = :error WHERE message_id = :messageId AND repeats = 0`);
  const sending = database.prepare("SELECT message_id, jid FROM outbox WHERE state = 'sending'");
  const unsent = database.prepare(
    "SELECT 1 FROM outbox WHERE jid = ? AND state IN ('queued', 'sending') LIMIT 1",
  );

  const known = database.prepare('SELECT 1 FROM outbox WHERE message_id = ?');
  const unsentOf = database.prepare(
    "SELECT 1 FROM outbox WHERE turn_id = ? AND state IN ('queued', 'sending') LIMIT 1",
  );

  const unread = database.prepare(
    "SELECT 1 FROM outbox WHERE message_id = ? AND state = 'queued' AND repeats = 0",
  );
  const progress = database.prepare(`
    SELECT message_id, text, created_at FROM outbox
    WHERE turn_id = :turnId AND state = 'sent' AND jid = :jid AND seq < :seq AND seq > coalesce(
      (SELECT seq FROM outbox AS other WHERE other.jid = :jid AND other.seq < :seq
       AND (other.is_progress = 0 OR other.turn_id IS NOT :turnId) ORDER BY seq DESC LIMIT 1), 0)
    ORDER BY seq`);
  const withFiles = database.prepare(`
    SELECT attachments FROM outbox
    WHERE attachments <> '[]' AND state IN ('queued', 'sending')`);

  const throughIndex = createThroughIndex(database);

  function markUnknown(messageId: string, nextTryAt: number, error: string) {
    if (repeat.run({ messageId, nextTryAt, error }).changes > 0) return 'repeated';
    setState.run({ messageId, state: 'unknown', error });
    return 'unknown';
  }
  return {
    add({ messageId, jid, text, turnId = null, replyTo = null, threadOf = turnId, ...rest }, now) {
      const { isProgress = false, isReaction = false, attachments = [], choices = null } = rest;
      const { replaces = null } = rest;
      throughIndex(() =>
        insert.run({
          ...{ messageId, jid, text, turnId, replyTo, threadOf, replaces, now },
          isProgress: Number(isProgress),
          isReaction: Number(isReaction),
          attachments: JSON.stringify(attachments),
          choices: choices === null ? null : JSON.stringify(choices),
        }),
      );
    },
    heads: () => heads.all().map(parseOutbound),
    has: (messageId) => known.get(messageId) !== undefined,
    markSending: (messageId) => void setState.run({ messageId, state: 'sending', error: null }),
    markSent: (messageId) => void setState.run({ messageId, state: 'sent', error: null }),
    postpone: (messageId, nextTryAt, error) => void postpone.run({ messageId, nextTryAt, error }),
    keep: (messageId, notBefore, error) => void keep.run({ messageId, notBefore, error }),
    markUnknown,
    giveUp: (messageId, error) => void setState.run({ messageId, state: 'failed', error }),
    recover: (now) =>
      database.transaction(() => {
        const error = 'the assistant ended while this was being sent';
        return sending.all().flatMap((row) => {
          const { message_id: messageId, jid } = Sending.parse(row);
          const isOver = markUnknown(messageId, now, error) === 'unknown';
          return isOver ? [{ messageId, jid, error }] : [];
        });
      })(),
    hasUnsent: (jid) => unsent.get(jid) !== undefined,
    hasUnsentOf: (turnId) => unsentOf.get(turnId) !== undefined,
    isUnread: (messageId) => unread.get(messageId) !== undefined,
    progressBefore({ turnId, jid, seq }, since) {
      const said = progress.all({ turnId, jid, seq }).map((row) => Said.parse(row));
      const [first] = said;
      if (first === undefined || first.created_at < since) return null;
      return { messageId: first.message_id, text: said.map(({ text }) => text).join('\n') };
    },
    copiesToSend: () =>
      withFiles.all().flatMap((row) => {
        const { attachments } = Files.parse(row);
        return parseFiles(attachments).map(({ copy }) => copy);
      }),
  };
}
