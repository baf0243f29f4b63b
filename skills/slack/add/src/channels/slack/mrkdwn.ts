import type { Notation } from '../kit/markdown.ts';

/**
 * Mrkdwn, Slack's own notation. The characters that mean something to Slack are escaped, so that no text can
 * address a channel (`<!channel>`) or hide where a link leads.
 */
export const MRKDWN: Notation = {
  escape: escapeMrkdwn,
  bold: (inner) => `*${inner}*`,
  italic: (inner) => `_${inner}_`,
  struck: (inner) => `~${inner}~`,
  code: (text) => `\`${escapeMrkdwn(text)}\``,
  codeBlock: (text) =>
    // Slack ends a block at the next three backticks, wherever they are.
    `\`\`\`\n${escapeMrkdwn(text.replaceAll('```', '``\u200b`'))}\n\`\`\``,
  quote: (inner) => inner.replace(/^/gm, '> '),
  link,
  indent: '    ',
};

/** Escapes the three characters that Slack gives a meaning. */
function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Writes a link; one that Slack would not follow has its address in the text. */
function link(href: string, label: string): string {
  if (!/^(https?|mailto):/i.test(href)) {
    return label === '' ? escapeMrkdwn(href) : `${label} (${escapeMrkdwn(href)})`;
  }
  const address = escapeMrkdwn(href).replaceAll('|', '%7C');
  return label === '' || label === address
    ? `<${address}>`
    : `<${address}|${label.replaceAll('\n', ' ')}>`;
}
