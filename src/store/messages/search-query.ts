/** A search as the database is asked it. */
export type SearchQuery = {
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
export function parseSearch(text: string, jids: readonly string[]): SearchQuery {
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
