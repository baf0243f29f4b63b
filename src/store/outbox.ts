import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { CURRENT_JID } from './chats.ts';
import { throughIndexOf } from './search-index.ts';

const KeptFile = z.object({
  copy: z.string(),
  origin: z.string(),
  name: z.string(),
  sizeBytes: z.int(),
});
const KeptFiles = z.array(KeptFile);

/**
 * A file that goes along with a message: the name of the host's copy of it, where it was copied from as
 * people are told, and its name for the recipient.
 */
export type KeptFile = Readonly<z.output<typeof KeptFile>>;

const KeptChoices = z.object({
  question: z.string(),
  text: z.string(),
  options: z.array(z.object({ word: z.string(), label: z.string() })),
});

/** A question that can be answered by a press: its id, the text where that can be done, and the choices. */
export type KeptChoices = Readonly<z.output<typeof KeptChoices>>;

export type NewOutbound = {
  readonly messageId: string;
  readonly jid: string;
  readonly text: string;
  /** The turn that it answers or reports on; absent or null for a message without a question. */
  readonly turnId?: string | null;
  /** It says how far a command is, and answers nothing yet. */
  readonly isProgress?: boolean;
  /** The channel's id of the message in the same chat that it is shown to answer. */
  readonly replyTo?: string | null;
  readonly attachments?: readonly KeptFile[];
  /** Its text is an emoji for the message that `replyTo` names. */
  readonly isReaction?: boolean;
  /** The turn into whose thread it goes, where that is not `turnId`. */
  readonly threadOf?: string | null;
  /** For channels that show choices to press; `text` names them for all others. */
  readonly choices?: KeptChoices | null;
};

/** A message on its way out. `attempts` counts refusals, `repeats` sends of unknown outcome. */
export type Outbound = Omit<NewOutbound, 'replyTo' | 'threadOf'> & {
  readonly turnId: string | null;
  readonly isProgress: boolean;
  readonly attachments: readonly KeptFile[];
  readonly isReaction: boolean;
  /** Null where it answers nothing, or where that is not stored any more. */
  readonly replyTo: { readonly id: string; readonly sender: string; readonly text: string } | null;
  readonly choices: KeptChoices | null;
  /** The thread of what was asked last in its turn; null without a turn, or where there are no threads. */
  readonly thread: string | null;
  readonly seq: number;
  readonly attempts: number;
  readonly repeats: number;
  readonly nextTryAt: number;
};

/** A message that was sent twice, both times without an outcome. */
export type UnknownOutcome = {
  readonly messageId: string;
  readonly jid: string;
  readonly error: string;
};

export interface Outbox {
  /** @throws when `jid` is no registered group: nothing is ever sent to those */
  add(message: NewOutbound, now: number): void;
  /** Returns the first unsent message of every chat that has one: the order within a chat is kept. */
  heads(): readonly Outbound[];
  markSending(messageId: string): void;
  markSent(messageId: string): void;
  /** Notes that the far end did not take a message: it is tried again at `nextTryAt`. */
  postpone(messageId: string, nextTryAt: number, error: string): void;
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
  /**
   * Returns what its turn said of its progress before this message, with nothing else said in the chat in
   * between: the id under which that is shown, and all of its text. Null where there is none, or where it was
   * first said before `since`.
   */
  progressBefore(message: Outbound, since: number): Pick<Outbound, 'messageId' | 'text'> | null;
  /** Returns the copies that go along with messages which are not sent yet. */
  copiesToSend(): readonly string[];
}

const Row = z
  .object({
    seq: z.int(),
    message_id: z.string(),
    jid: z.string(),
    text: z.string(),
    turn_id: z.string().nullable(),
    is_progress: z.int(),
    is_reaction: z.int(),
    attempts: z.int(),
    repeats: z.int(),
    next_try_at: z.int(),
    attachments: z.string(),
    choices: z.string().nullable(),
    thread: z.string().nullable(),
    reply_id: z.string().nullable(),
    reply_sender: z.string().nullable(),
    reply_text: z.string().nullable(),
  })
  .transform((row) => ({
    seq: row.seq,
    messageId: row.message_id,
    jid: row.jid,
    text: row.text,
    turnId: row.turn_id,
    isProgress: row.is_progress !== 0,
    isReaction: row.is_reaction !== 0,
    attempts: row.attempts,
    repeats: row.repeats,
    nextTryAt: row.next_try_at,
    attachments: parseFiles(row.attachments),
    choices: row.choices === null ? null : parseChoices(row.choices),
    thread: row.thread,
    replyTo:
      row.reply_id === null || row.reply_sender === null
        ? null
        : { id: row.reply_id, sender: row.reply_sender, text: row.reply_text ?? '' },
  }));
const Said = z.object({ message_id: z.string(), text: z.string(), created_at: z.int() });
const Sending = z.object({ message_id: z.string(), jid: z.string() });
const Files = z.object({ attachments: z.string() });

export function outboxOf(database: Database): Outbox {
  const insert = database.prepare(`
    INSERT INTO outbox (message_id, jid, text, turn_id, is_progress, is_reaction, reply_to, attachments, choices,
      thread, state, created_at)
    VALUES (:messageId, ${CURRENT_JID}, :text, :turnId, :isProgress, :isReaction, :replyTo, :attachments, :choices,
      (SELECT messages.thread FROM turns JOIN messages ON messages.seq = turns.upto_seq
       WHERE turns.id = :threadOf AND turns.jid = ${CURRENT_JID}
       AND (turns.kind = 'command' OR turns.payload IS NULL)),
      'queued', :now)`);
  const heads = database.prepare(`
    SELECT outbox.seq, message_id, outbox.jid, outbox.text, turn_id, is_progress, is_reaction, attempts,
      repeats, next_try_at, attachments, choices, outbox.thread, messages.id AS reply_id,
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
  const repeat = database.prepare(`
    UPDATE outbox SET state = 'queued', repeats = repeats + 1, next_try_at = :nextTryAt,
      error = :error WHERE message_id = :messageId AND repeats = 0`);
  const sending = database.prepare("SELECT message_id, jid FROM outbox WHERE state = 'sending'");
  const unsent = database.prepare(
    "SELECT 1 FROM outbox WHERE jid = ? AND state IN ('queued', 'sending') LIMIT 1",
  );

  const unsentOf = database.prepare(
    "SELECT 1 FROM outbox WHERE turn_id = ? AND state IN ('queued', 'sending') LIMIT 1",
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

  const throughIndex = throughIndexOf(database);

  function markUnknown(messageId: string, nextTryAt: number, error: string) {
    if (repeat.run({ messageId, nextTryAt, error }).changes > 0) return 'repeated';
    setState.run({ messageId, state: 'unknown', error });
    return 'unknown';
  }
  return {
    add({ messageId, jid, text, turnId = null, replyTo = null, threadOf = turnId, ...rest }, now) {
      const { isProgress = false, isReaction = false, attachments = [], choices = null } = rest;
      throughIndex(() =>
        insert.run({
          ...{ messageId, jid, text, turnId, replyTo, threadOf, now },
          isProgress: Number(isProgress),
          isReaction: Number(isReaction),
          attachments: JSON.stringify(attachments),
          choices: choices === null ? null : JSON.stringify(choices),
        }),
      );
    },
    heads: () => heads.all().map((row) => Row.parse(row)),
    markSending: (messageId) => void setState.run({ messageId, state: 'sending', error: null }),
    markSent: (messageId) => void setState.run({ messageId, state: 'sent', error: null }),
    postpone: (messageId, nextTryAt, error) => void postpone.run({ messageId, nextTryAt, error }),
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

function parseChoices(json: string): KeptChoices | null {
  return KeptChoices.safeParse(JSON.parse(json)).data ?? null;
}

/** Reads what another tree may have written: a message is sent without its files rather than never. */
function parseFiles(json: string): readonly KeptFile[] {
  return KeptFiles.safeParse(JSON.parse(json)).data ?? [];
}
