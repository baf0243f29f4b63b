import { styleText } from 'node:util';
import type { Token, Tokens } from 'marked';
import { printable } from './printable.ts';

type Style = Parameters<typeof styleText>[0];

/** Styles text even where this process has no terminal itself: another one shows it. */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { validateStream: false });
}

/** Returns the tokens inside a paragraph, heading or cell as one styled text. */
export function renderInline(tokens: readonly Token[]): string {
  return tokens.map((token) => renderToken(token)).join('');
}

function renderToken(token: Token): string {
  const inner = (): string => renderInline('tokens' in token ? (token.tokens ?? []) : []);
  switch (token.type) {
    case 'strong':
      return styled('bold', inner());
    case 'em':
      return styled('italic', inner());
    case 'del':
      return styled('strikethrough', inner());
    case 'codespan':
      return styled('cyan', (token as Tokens.Codespan).text);
    case 'br':
      return '\n';
    case 'link':
      return renderLink(token as Tokens.Link, inner());
    case 'image':
      return renderLink(token as Tokens.Image, words((token as Tokens.Image).text));
    case 'text':
      return 'tokens' in token && token.tokens !== undefined ? inner() : words(token.text);
    case 'escape':
      return (token as Tokens.Escape).text;
    default:
      return token.raw;
  }
}

/**
 * Returns printable text. marked decodes numeric entities, so a token may hold a control character that was
 * not in the text.
 */
function words(text: string): string {
  return printable(decodeEntities(text));
}

/** Named entities that people and models write; numeric ones are decoded besides. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  plusmn: '±',
  times: '×',
  divide: '÷',
  frac12: '½',
  middot: '·',
  bull: '•',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  larr: '←',
  rarr: '→',
  uarr: '↑',
  darr: '↓',
  le: '≤',
  ge: '≥',
  ne: '≠',
  euro: '€',
  pound: '£',
  yen: '¥',
  sect: '§',
  para: '¶',
  check: '✓',
};

/** Replaces HTML entities by their characters, control characters too; other text stays unchanged. */
function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z][a-z\d]*));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) =>
      name === undefined
        ? numbered(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal), whole)
        : (NAMED[name] ?? whole),
  );
}

function numbered(code: number, whole: string): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

function renderLink({ href: given }: { readonly href: string }, label: string): string {
  const href = printable(given);
  // A mail address, or that of a chat, is a link although nobody has written one.
  const isBare = label === href || `mailto:${label}` === href;
  return isBare ? styled('underline', label) : `${label} (${styled('underline', href)})`;
}
