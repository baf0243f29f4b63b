import type { Notation } from '../kit/markdown.ts';
import { renderParts } from '../kit/render-parts.ts';

/** Discord takes messages of 2,000 characters from bots. */
const LIMIT = 2_000;

/**
 * Discord's Markdown. Signs that mean something to Discord are escaped in text, so that no text can be a mention, hide
 * itself behind bars, or hide where a link leads.
 */
const DISCORD: Notation = {
  escape: escaped,
  bold: (inner) => `**${inner}**`,
  italic: (inner) => `*${inner}*`,
  struck: (inner) => `~~${inner}~~`,
  code: (text) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``),
  codeBlock: (text, language) =>
    // Discord ends a block at the next three backticks, wherever they are.
    `\`\`\`${language ?? ''}\n${text.replaceAll('```', '``\u200b`')}\n\`\`\``,
  quote: (inner, isWithinQuote) => (isWithinQuote ? inner : inner.replace(/^/gm, '> ')),
  link,
  bullet: '-',
};

/** Turns Markdown of any length into messages that fit, in order. Text without words gives none. */
export function formatParts(markdown: string): readonly string[] {
  return renderParts(markdown, DISCORD, { limit: LIMIT }).map(({ text }) => text);
}

function escaped(text: string): string {
  return text.replace(/[\\*_~`|<>[\]]/g, '\\$&').replace(/^(#{1,3}|-#|[-+])(?=\s)/gm, '\\$1');
}

/** Writes a link; one that Discord would not follow has its address in the text. */
function link(href: string, label: string): string {
  if (label === '' || label === escaped(href)) return /^https?:/i.test(href) ? href : escaped(href);
  if (!/^https?:\/\//i.test(href)) return `${label} (${escaped(href)})`;
  // Discord shows a link whose words look like another address as it is written.
  if (/https?:\/\//i.test(label)) return `${label} (${href})`;
  const address = href.replaceAll('(', '%28').replaceAll(')', '%29').replaceAll(' ', '%20');
  return `[${label.replaceAll('\n', ' ')}](${address})`;
}
