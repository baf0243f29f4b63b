import { type Notation, renderMarkdown } from '../../kit/markdown.ts';
import { renderParts } from '../../kit/render-parts.ts';

/** WhatsApp takes far more, but hides all after the first screens. */
const LIMIT = 4_000;

/** WhatsApp's own notation: one star for bold, underscores, tildes, no headings, links in full. */
const NOTATION: Notation = {
  escape: (text) => text,
  bold: (inner) => marked('*', inner),
  italic: (inner) => marked('_', inner),
  struck: (inner) => marked('~', inner),
  code: (text) => `\`${text}\``,
  codeBlock: (text) => `\`\`\`\n${text}\n\`\`\``,
  quote: (inner) => inner.replace(/^/gm, '> '),
  link,
  heading: (inner) => marked('*', inner.replaceAll('*', '')),
  bullet: '-',
};

/** Turns Markdown of any length into messages that are read in order. Text without words gives none. */
export function formatParts(markdown: string, limit: number = LIMIT): readonly string[] {
  return renderParts(markdown, NOTATION, { limit }).map(({ text }) => text);
}

/** Writes Markdown in WhatsApp's notation. */
export function toWhatsApp(markdown: string): string {
  return renderMarkdown(markdown, NOTATION).trim();
}

/** WhatsApp shows a mark beside a space, or around a line's end, as it is. */
function marked(mark: string, text: string): string {
  return text
    .split('\n')
    .map((line) =>
      line.replace(/^(\s*)(.*?)(\s*)$/, (_, before, inner, after) =>
        inner === '' ? line : `${before}${mark}${inner}${mark}${after}`,
      ),
    )
    .join('\n');
}

/** WhatsApp makes links of addresses, but cannot hide an address behind words. */
function link(href: string, label: string): string {
  const address = href.replace(/^mailto:/, '');
  return label === '' || label === address || label === href ? address : `${label} (${address})`;
}
