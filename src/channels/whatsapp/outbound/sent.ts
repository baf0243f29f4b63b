import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { LinkDatabase } from '../session/link-database.ts';

const Row = z.object({ jid: z.string(), text: z.string(), is_taken: z.int() });
const PartRow = z.object({ message: z.string() });
const FileRow = z.object({ message: z.instanceof(Uint8Array) });

/** A message as it went out: its words, or of a file or poll the encoded message. */
export type SentContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly message: Uint8Array };

/** The assistant's messages, each stored before it is sent. */
export interface Sent {
  /** Notes what is about to go out. @returns whether WhatsApp has taken it already, before a crash */
  begin(part: {
    readonly id: string;
    readonly jid: string;
    readonly text: string;
    /** The host's message that it is a part of. */
    readonly of: string;
  }): boolean;
  /** Returns the host's message to which one of that chat belongs; null for one of somebody else's. */
  messageOf(jid: string, id: string): string | null;
  markTaken(id: string): void;
  /** Tells whether WhatsApp has taken anything to this chat. */
  isKnown(jid: string): boolean;
  /** Returns when the `count`th newest of those who are written to had the first message; null where there are fewer. */
  firstWrittenTo(count: number): number | null;
  /** Returns the text of a message in any chat; for use in the assistant only. */
  textOf(id: string): string | null;
  /** Returns the text only if the message is of that chat, so that an id of another chat's message reveals nothing. */
  textIn(jid: string, id: string): string | null;
  /** Keeps the message of a file or poll that is about to go out under that id. */
  keepFile(id: string, message: Uint8Array): void;
  /** The message of a file or poll that was made before. */
  fileOf(id: string): Uint8Array | null;
  /** All of what was said in that chat under that id, for those who could not read it. */
  contentIn(jid: string, id: string): SentContent | null;
}

export function openSent({ database, now }: LinkDatabase): Sent {
  const insert = database.prepare(
    'INSERT OR IGNORE INTO sent (id, jid, text, sent_at) VALUES (?, ?, ?, ?)',
  );
  const insertPart = database.prepare(
    'INSERT OR IGNORE INTO sent_parts (id, message) VALUES (?, ?)',
  );
  const findPart = database.prepare('SELECT message FROM sent_parts WHERE id = ?');
  const find = database.prepare('SELECT jid, text, is_taken FROM sent WHERE id = ?');
  const taken = database.prepare('UPDATE sent SET is_taken = 1 WHERE id = ?');
  const insertFile = database.prepare(
    'INSERT OR REPLACE INTO sent_files (id, message) VALUES (?, ?)',
  );
  const findFile = database.prepare('SELECT message FROM sent_files WHERE id = ?');
  const fileOf = (id: string) => FileRow.optional().parse(findFile.get(id))?.message ?? null;
  const known = database.prepare('SELECT 1 FROM sent WHERE jid = ? AND is_taken = 1 LIMIT 1');
  const newChats = database
    .prepare(
      `SELECT min(sent_at) AS first FROM sent WHERE is_taken = 1 AND jid NOT LIKE '%@g.us'
       GROUP BY jid ORDER BY first DESC LIMIT 1 OFFSET ?`,
    )
    .pluck();
  const row = (id: string) => (database.open ? Row.optional().parse(find.get(id)) : undefined);
  return {
    begin({ id, jid, text, of }) {
      insert.run(id, jid, text, now());
      insertPart.run(id, of);
      return row(id)?.is_taken === 1;
    },
    messageOf(jid, id) {
      if (row(id)?.jid !== jid) return null;
      return PartRow.optional().parse(findPart.get(id))?.message ?? null;
    },
    markTaken(id) {
      if (database.open) taken.run(id);
    },
    isKnown: (jid) => known.get(jid) !== undefined,
    firstWrittenTo: (count) =>
      z
        .int()
        .nullable()
        .parse(newChats.get(count - 1) ?? null),
    textOf: (id) => row(id)?.text ?? null,
    textIn(jid, id) {
      const found = row(id);
      return found?.jid === jid ? found.text : null;
    },
    keepFile: (id, message) => void insertFile.run(id, message),
    fileOf,
    contentIn(jid, id) {
      const found = row(id);
      if (found?.jid !== jid) return null;
      const message = fileOf(id);
      return message === null ? { kind: 'text', text: found.text } : { kind: 'file', message };
    },
  };
}

/**
 * Returns the id under which a part of a message is sent: always the same, so that a message that is sent again after
 * a crash is the same message for its recipients. It looks like an id of WhatsApp Web.
 */
export function messageIdOf(outboundId: string, part: number | `file ${number}` | 'poll'): string {
  const digest = createHash('sha256').update(`${outboundId}/${part}`).digest('hex');
  return `3EB0${digest.slice(0, 18).toUpperCase()}`;
}
