import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { KeptFile } from '../outbox-message.ts';
import type { SaidKind } from './said-texts.ts';

/** A message of a chat or an answer of the assistant, as a page shows it. */
export type HistoryEntry = {
  readonly kind: SaidKind;
  readonly seq: number;
  /** Null for the assistant. */
  readonly sender: string | null;
  readonly isOwner: boolean;
  /** When the assistant stored it, in milliseconds since the epoch. */
  readonly at: number;
  /** The beginning of a long text. */
  readonly text: string;
  /** The length of the whole text, in characters. */
  readonly length: number;
  readonly files: readonly HistoryFile[];
};

/** A file that came with a message or went along with an answer. */
export type HistoryFile = {
  readonly name: string | null;
  /** As the channel says, such as `image`; null for a file of an answer. */
  readonly kind: string | null;
  readonly sizeBytes: number | null;
};

/** The place of a file of the history: with a message, by the channel's id of it, or the host's copy. */
export type HistoryFilePlace =
  | { readonly kind: 'message'; readonly messageId: string; readonly name: string | null }
  | { readonly kind: 'answer'; readonly file: Pick<KeptFile, 'copy' | 'name'> };

type TextEntry = Omit<HistoryEntry, 'files'>;

/** A place in a chat's history: the entries with a smaller number are older, kind by kind. */
export type HistoryPlace = Readonly<Record<SaidKind, number>>;

/** All that was said in a chat, commands among it, page by page. */
export interface History {
  /**
   * Returns the `limit` entries before a place, oldest first. A page costs the same wherever it is in the chat.
   *
   * @param before null for the newest entries
   */
  page(jid: string, before: HistoryPlace | null, limit: number): readonly HistoryEntry[];
  /** Returns the whole text of an entry; null where it is gone. */
  whole(jid: string, kind: SaidKind, seq: number): string | null;
  /** Returns where the file of an entry is, by its place among them, from 0; null where it has none. */
  file(jid: string, kind: SaidKind, seq: number, number: number): HistoryFilePlace | null;
  /** Tells whether an answer names this copy of a file. */
  hasCopy(copy: string): boolean;
}

/** Longer texts are cut on a page; `whole` has the rest. */
const SHOWN = 8_000;

const Row = z
  .object({
    seq: z.int(),
    sender: z.string().nullable(),
    is_owner: z.int(),
    at: z.int(),
    text: z.string(),
    length: z.int(),
  })
  .transform(({ is_owner, ...row }) => ({ ...row, isOwner: is_owner === 1 }));
const FileRow = z
  .object({
    name: z.string().nullable(),
    kind: z.string().nullable(),
    size_bytes: z.int().nullable(),
  })
  .transform(({ size_bytes: sizeBytes, ...row }) => ({ ...row, sizeBytes }));
const MessageFile = z.object({ id: z.string(), name: z.string().nullable() });
const AnswerFile = z.object({ copy: z.string(), name: z.string() });
const Text = z.object({ text: z.string() });
const LongRow = z.object({ seq: z.int(), text: z.null() });

/** Reading a longer text takes the database longer than the rest of a page: its beginning is read once. */
const LONG_BYTES = 100_000;
const LONG_KEPT = 200;

export function openHistory(database: Database): History {
  // The size of a text is known without reading it. What stands behind a long one is as far to read as its end.
  const below = (table: string, sender: string, at: string) => {
    const isShort = `octet_length(text) <= ${LONG_BYTES}`;
    const columns = (condition: string) => `
      seq, ${sender}, CASE WHEN ${condition} THEN ${at} END AS at,
      CASE WHEN ${condition} THEN substr(text, 1, ${SHOWN}) END AS text,
      CASE WHEN ${condition} THEN length(text) END AS length`;
    return {
      page: database.prepare(`
        SELECT ${columns(isShort)} FROM ${table}
        WHERE jid = :jid AND seq < :seq ORDER BY seq DESC LIMIT :limit`),
      one: database.prepare(`SELECT ${columns('1')} FROM ${table} WHERE seq = ?`),
    };
  };
  const statements = {
    message: below('messages', 'coalesce(sender_name, sender) AS sender, is_owner', 'stored_at'),
    answer: below('answers', 'NULL AS sender, 0 AS is_owner', 'said_at'),
  };
  /** Long texts by number. Stored texts do not change, and a number is never used twice. */
  const longOnes = new Map<string, TextEntry>();

  function entryOf(kind: SaidKind, row: unknown): TextEntry {
    const { data: long } = LongRow.safeParse(row);
    if (long === undefined) return { kind, ...Row.parse(row) };
    const key = `${kind} ${long.seq}`;
    const known = longOnes.get(key);
    if (known !== undefined) return known;
    const entry: TextEntry = { kind, ...Row.parse(statements[kind].one.get(long.seq)) };
    longOnes.set(key, entry);
    const [oldest] = longOnes.keys();
    if (longOnes.size > LONG_KEPT && oldest !== undefined) longOnes.delete(oldest);
    return entry;
  }

  const texts = {
    message: database.prepare('SELECT text FROM messages WHERE jid = ? AND seq = ?'),
    answer: database.prepare('SELECT text FROM answers WHERE jid = ? AND seq = ?'),
  };
  const files = {
    message: database.prepare(
      'SELECT name, kind, size_bytes FROM attachments WHERE message_seq = ? ORDER BY number',
    ),
    answer: database.prepare(
      'SELECT name, NULL AS kind, size_bytes FROM answer_files WHERE answer_seq = ? ORDER BY number',
    ),
  };
  const messageFile = database.prepare(`
    SELECT messages.id, name FROM messages JOIN attachments ON message_seq = messages.seq
    WHERE jid = ? AND messages.seq = ? AND number = ?`);
  const answerFile = database.prepare(`
    SELECT copy, name FROM answers JOIN answer_files ON answer_seq = answers.seq
    WHERE jid = ? AND answers.seq = ? AND number = ?`);
  const copy = database.prepare('SELECT 1 FROM answer_files WHERE copy = ?');
  const filesOf = (kind: SaidKind, seq: number): readonly HistoryFile[] =>
    files[kind].all(seq).map((row) => FileRow.parse(row));
  return {
    page(jid, before, limit) {
      const [messages, answers] = (['message', 'answer'] as const).map((kind) => {
        const seq = before?.[kind] ?? Number.MAX_SAFE_INTEGER;
        const rows = statements[kind].page.all({ jid, seq, limit });
        return rows.map((row) => entryOf(kind, row));
      });
      return newestOf(messages ?? [], answers ?? [], limit)
        .reverse()
        .map((entry) => ({ ...entry, files: filesOf(entry.kind, entry.seq) }));
    },
    whole(jid, kind, seq) {
      const row = texts[kind].get(jid, seq);
      return row === undefined ? null : Text.parse(row).text;
    },
    file(jid, kind, seq, number) {
      const row = (kind === 'message' ? messageFile : answerFile).get(jid, seq, number);
      if (row === undefined) return null;
      if (kind === 'answer') return { kind, file: AnswerFile.parse(row) };
      const { id: messageId, name } = MessageFile.parse(row);
      return { kind, messageId, name };
    },
    hasCopy: (name) => copy.get(name) !== undefined,
  };
}

/**
 * Takes from the beginnings of two lists, each newest first, whichever is newer. The order within a kind is that of
 * its numbers, so that no page leaves out what a clock that was set back has put elsewhere.
 */
function newestOf(
  messages: readonly TextEntry[],
  answers: readonly TextEntry[],
  limit: number,
): TextEntry[] {
  const taken: TextEntry[] = [];
  let [nextMessage, nextAnswer] = [0, 0];
  while (taken.length < limit) {
    const [message, answer] = [messages[nextMessage], answers[nextAnswer]];
    if (answer !== undefined && (message === undefined || answer.at >= message.at)) {
      taken.push(answer);
      nextAnswer += 1;
    } else if (message !== undefined) {
      taken.push(message);
      nextMessage += 1;
    } else break;
  }
  return taken;
}
