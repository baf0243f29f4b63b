import { Marked } from 'marked';
import { unlessNested } from '../../lib/markdown-guard.ts';
import { SHORT_WORDS } from '../../lib/markdown-words.ts';

/** A piece of a text that grows: what comes at this place of it. */
export type GrowingText = {
  readonly id: string;
  /** Characters that stay as they were. */
  readonly from: number;
  readonly text: string;
};

/** A longer block is not looked at while it grows: reading it again and again would take all the time. */
const LONGEST_OPEN = 50_000;

/**
 * Splits Markdown that is still being written before its last block. The blocks before it stay as they are,
 * whatever comes; a line that has not ended decides nothing.
 */
export function splitWhole(text: string): { readonly whole: string; readonly open: string } {
  const ended = text.slice(0, text.lastIndexOf('\n') + 1);
  const undecided = { whole: '', open: text };
  if (ended.length > LONGEST_OPEN) return undecided;
  return unlessNested(
    ended,
    (markdown) => {
      const tokens = new Marked({ tokenizer: SHORT_WORDS }).lexer(markdown);
      const last = tokens.findLastIndex(({ type }) => type !== 'space' && type !== 'def');
      const length = tokens
        .slice(0, Math.max(last, 0))
        .reduce((sum, { raw }) => sum + raw.length, 0);
      // The lexer writes tabs and line ends its own way: then no place in its text is one in ours.
      const isSame = tokens.map(({ raw }) => raw).join('') === markdown;
      return isSame ? { whole: text.slice(0, length), open: text.slice(length) } : undecided;
    },
    () => undecided,
  );
}
