import fastStringWidth from 'fast-string-width';
import { Marked, type Token, type Tokens } from 'marked';
import { unlessNested } from '../../lib/markdown-guard.ts';
import { SHORT_WORDS } from '../../lib/markdown-words.ts';

/** One messenger's notation for Markdown. Arguments are already in that notation, except `text`. */
export type Notation = {
  /** Escapes characters that have a meaning to the messenger. */
  escape(text: string): string;
  bold(inner: string): string;
  italic(inner: string): string;
  struck(inner: string): string;
  /** Code within a line. */
  code(text: string): string;
  codeBlock(text: string, language: string | null): string;
  /** Quoted lines; some messengers take no quotation within another. */
  quote(inner: string, isWithinQuote: boolean): string;
  /** A link; an address without words has an empty label. */
  link(href: string, label: string): string;
  /** By default the heading in bold. */
  heading?(inner: string): string;
  /** The mark of an unordered item, `•` by default. */
  readonly bullet?: string;
  /** The indentation of a list within a list: two spaces by default. */
  readonly indent?: string;
};

/**
 * Writes Markdown in a messenger's notation. Lines stay lines. Text that is nested deeper than people write is only
 * escaped.
 */
export function renderMarkdown(markdown: string, notation: Notation): string {
  const marked = new Marked({ tokenizer: SHORT_WORDS });
  const read = (text: string) => new Renderer(notation).blocks(marked.lexer(text), TOP);
  return unlessNested(markdown, read, (text) => notation.escape(text));
}

/** Markdown without any marks: words, codes and addresses stay. */
export const WITHOUT_MARKS: Notation = {
  escape: (text) => text,
  bold: (inner) => inner,
  italic: (inner) => inner,
  struck: (inner) => inner,
  code: (text) => text,
  codeBlock: (text) => text,
  quote: (inner) => inner.replace(/^/gm, '> '),
  link: (href, label) => (label === '' || label === href ? href : `${label} (${href})`),
  bullet: '-',
};

/** The surroundings of a token. */
type Place = { readonly isQuoted: boolean; readonly isBold: boolean };

const TOP: Place = { isQuoted: false, isBold: false };

class Renderer {
  readonly #notation: Notation;

  constructor(notation: Notation) {
    this.#notation = notation;
  }

  blocks(tokens: readonly Token[], place: Place): string {
    let text = '';
    let separator = '';
    for (const token of tokens) {
      if (token.type === 'space') {
        separator = text === '' ? '' : '\n\n';
        continue;
      }
      text += separator + this.#block(token, place);
      separator = '\n';
    }
    return text;
  }

  #block(token: Token, place: Place): string {
    const to = this.#notation;
    switch (token.type) {
      case 'heading': {
        const inner = this.#inlines(token.tokens ?? [], { ...place, isBold: true });
        return to.heading?.(inner) ?? to.bold(inner);
      }
      case 'paragraph':
      case 'text':
        return token.tokens === undefined
          ? to.escape(token.raw)
          : this.#inlines(token.tokens, place);
      case 'code':
        return to.codeBlock(token.text, /^[\w+#-]+/.exec(token.lang ?? '')?.[0] ?? null);
      case 'blockquote':
        return to.quote(
          this.blocks(token.tokens ?? [], { ...place, isQuoted: true }),
          place.isQuoted,
        );
      case 'list':
        return this.#list(token as Tokens.List, place);
      case 'table':
        return to.codeBlock(alignedTable(token as Tokens.Table), null);
      case 'hr':
        return '———';
      case 'checkbox':
        return ''; // Its item shows it.
      default:
        return to.escape(token.raw.trimEnd());
    }
  }

  #list({ items, ordered, start }: Tokens.List, place: Place): string {
    const { bullet = '•', indent = '  ' } = this.#notation;
    const first = typeof start === 'number' ? start : 1;
    return items
      .map((item, index) => {
        const mark = ordered ? `${first + index}.` : bullet;
        const box = item.task ? (item.checked ? '☑ ' : '☐ ') : '';
        const [head = '', ...nested] = item.tokens
          .filter(({ type }) => type !== 'space' && type !== 'checkbox')
          .map((token) => {
            const text = this.#block(token, place);
            return token.type === 'list' ? text.replace(/^/gm, indent) : text;
          });
        return [`${mark} ${box}${head}`, ...nested].join('\n');
      })
      .join('\n');
  }

  inlines(tokens: readonly Token[]): string {
    return this.#inlines(tokens, TOP);
  }

  #inlines(tokens: readonly Token[], place: Place): string {
    return tokens.map((token) => this.#inline(token, place)).join('');
  }

  #inline(token: Token, place: Place): string {
    const to = this.#notation;
    const tokens = 'tokens' in token ? (token.tokens ?? []) : [];
    const within = (inner: Place) => this.#inlines(tokens, inner);
    switch (token.type) {
      case 'strong':
        return place.isBold ? within(place) : to.bold(within({ ...place, isBold: true }));
      case 'em':
        return to.italic(within(place));
      case 'del':
        return to.struck(within(place));
      case 'codespan':
        return to.code(token.text);
      case 'br':
        return '\n';
      case 'link':
        return to.link(token.href, within(place));
      case 'image':
        return to.link(token.href, to.escape(token.text));
      case 'escape':
        return to.escape(token.text);
      case 'text':
        return token.tokens === undefined ? to.escape(token.text) : within(place);
      default:
        return to.escape(token.raw);
    }
  }
}

/** Columns are not made wider than this: a long cell stands out of its column, and costs the other rows no spaces. */
const WIDEST_COLUMN = 40;

/**
 * Writes a table with aligned columns, for a font in which all characters are as wide, and East Asian ones twice as wide.
 * Marks of bold words and links would show in code, so cells are plain.
 */
function alignedTable({ header, rows, align }: Tokens.Table): string {
  const plain = new Renderer(WITHOUT_MARKS);
  const cells = [header, ...rows].map((row) =>
    row.map(({ tokens }) => plain.inlines(tokens).replace(/\s+/g, ' ').trim()),
  );
  const widths = header.map((_, at) =>
    Math.min(WIDEST_COLUMN, Math.max(1, ...cells.map((row) => fastStringWidth(row[at] ?? '')))),
  );
  const lineOf = (row: readonly string[]) =>
    widths
      .map((width, at) => {
        const cell = row[at] ?? '';
        const space = Math.max(0, width - fastStringWidth(cell));
        const side = align[at];
        const before = side === 'right' ? space : side === 'center' ? space >> 1 : 0;
        return ' '.repeat(before) + cell + ' '.repeat(space - before);
      })
      .join('  ')
      .trimEnd();
  const [head = [], ...body] = cells;
  return [
    lineOf(head),
    widths.map((width) => '─'.repeat(width)).join('  '),
    ...body.map(lineOf),
  ].join('\n');
}
