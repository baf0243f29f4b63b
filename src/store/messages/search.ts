import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { createThroughIndex } from './search-index.ts';

export type SearchQuery = {
  /** In which chats. */
  readonly jids: readonly string[];
  /** The typed words; the empty text means everything. */
  readonly text: string;
  /** Between which moments, both included. */
  readonly from: number;
  readonly until: number;
  readonly limit: number;
};

/** Something that was said in a chat; `sender` is null for the assistant. */
export type Hit = {
  readonly jid: string;
  /** Its number among the messages of people, or among the answers of the assistant. */
  readonly seq: number;
  readonly sender: string | null;
  readonly saidAt: number;
  /** The part in which the words are, of a long message. */
  readonly text: string;
};

export interface Search {
  /** Finds messages and answers of the assistant in some chats, the newest first. */
  find(query: SearchQuery): readonly Hit[];
}

const Row = z
  .object({
    jid: z.string(),
    seq: z.int(),
    sender: z.string().nullable(),
    said_at: z.int(),
    text: z.string(),
  })
  .transform(({ said_at: saidAt, ...row }) => ({ ...row, saidAt }));

/** The limit for a hit that no index found, in characters. */
const SHOWN = 400;

export function openSearch(database: Database): Search {
  const catchUp = database.prepare(`
    INSERT INTO message_words (rowid, chat, text)
    SELECT seq, chat, text FROM searched_messages
    WHERE seq > (SELECT upto_seq FROM indexed_messages) ORDER BY seq`);
  const caughtUp = database.prepare(`
    UPDATE indexed_messages SET upto_seq = (SELECT coalesce(max(seq), 0) FROM messages)`);
  const bringUpToDate = database.transaction(() => {
    if (catchUp.run().changes > 0) caughtUp.run();
  });

  const sources = [
    {
      said: 'messages',
      words: 'message_words',
      sender: 'coalesce(sender_name, sender)',
      at: 'sent_at',
    },
    { said: 'answers', words: 'answer_words', sender: 'NULL', at: 'said_at' },
  ].map(({ said, words, sender, at }) => {
    // Pieces that the index has no words for are looked for in what is left.
    const rest = `said.${at} BETWEEN :from AND :until AND NOT EXISTS (
      SELECT 1 FROM json_each(:pieces) WHERE said.text NOT LIKE value ESCAPE '\\')`;
    const columns = `said.jid, said.seq, ${sender} AS sender, said.${at} AS said_at`;
    return {
      // CROSS JOIN keeps the order: the index first, newest first, until the limit is reached.
      indexed: database.prepare(`
        SELECT ${columns}, snippet(${words}, 1, '', '', '…', 48) AS text
        FROM ${words} CROSS JOIN ${said} AS said ON said.seq = ${words}.rowid
        WHERE ${words} MATCH :match AND ${rest} ORDER BY ${words}.rowid DESC LIMIT :limit`),
      scanned: database.prepare(`
        SELECT ${columns}, substr(said.text, max(1, instr(said.text, :first) - 100), ${SHOWN}) AS text
        FROM ${said} AS said
        WHERE said.jid IN (SELECT value FROM json_each(:jids)) AND ${rest}
        ORDER BY said.seq DESC LIMIT :limit`),
    };
  });

  const throughIndex = createThroughIndex(database);
  return {
    find: (query) => throughIndex(() => find(query)),
  };

  function find({ jids, text, ...range }: SearchQuery): readonly Hit[] {
    bringUpToDate();
    const { match, pieces } = parseSearch(text, jids);
    // Nothing but signs, of which no message is made.
    if (match === null && pieces.length === 0 && text.trim() !== '') return [];
    const like = pieces.map((piece) => `%${piece.replace(/[\\%_]/g, '\\$&')}%`);
    const given = { ...range, pieces: JSON.stringify(like) };
    const rows = sources.flatMap(({ indexed, scanned }) =>
      match === null
        ? scanned.all({ ...given, first: pieces[0] ?? '', jids: JSON.stringify(jids) })
        : indexed.all({ ...given, match }),
    );
    return rows
      .map((row) => Row.parse(row))
      .sort((one, other) => other.saidAt - one.saidAt)
      .slice(0, range.limit);
  }
}

/** A search as the database is asked it. */
type IndexQuery = {
  /** In the language of the full-text index; null where it has no word of what is looked for. */
  readonly match: string | null;
  /** Pieces that the text must contain literally as well. */
  readonly pieces: readonly string[];
};

/** More words than a person remembers; each costs a search in the index. */
const MAX_WORDS = 20;

/** The index finds words by the spaces between them, which these scripts do not write. */
const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const WORD = /[\p{L}\p{N}]/u;
const PICTURE = /\p{Extended_Pictographic}/u;

/**
 * Makes a query of typed text. All its words must occur; quoted parts must occur literally. Nothing in it is
 * an operator: the index is handed quoted strings only.
 */
function parseSearch(text: string, jids: readonly string[]): IndexQuery {
  const typed = text.replace(/\p{Cc}/gu, ' ').matchAll(/"([^"]*)"|[^\s"]+/g);
  const found = [...typed].map(([whole, quoted]) => (quoted ?? whole).trim()).slice(0, MAX_WORDS);
  const words = found.filter((piece) => WORD.test(piece) && !UNSPACED.test(piece));
  const pieces = found.filter(
    (piece) => UNSPACED.test(piece) || (!WORD.test(piece) && PICTURE.test(piece)),
  );
  if (words.length === 0) return { match: null, pieces };
  const chats = jids.map((jid) => `"${chatWord(jid)}"`).join(' OR ');
  const quoted = words.map((word) => `"${word}"`).join(' ');
  return { match: `chat : (${chats}) AND text : (${quoted})`, pieces };
}

/** Returns the word that represents a chat in the index, as the schema makes it. */
function chatWord(jid: string): string {
  return `c${Buffer.from(jid).toString('hex')}`;
}
