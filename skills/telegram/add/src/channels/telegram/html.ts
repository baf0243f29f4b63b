import type { Notation } from '../kit/markdown.ts';

/**
 * The HTML that Telegram takes: b, i, s, code, pre, a and blockquote, nothing else, with all other characters
 * escaped. Layout stays as it was written, since Telegram shows line ends.
 */
export const TELEGRAM_HTML: Notation = {
  escape: escapeHtml,
  bold: (inner) => `<b>${inner}</b>`,
  italic: (inner) => `<i>${inner}</i>`,
  struck: (inner) => `<s>${inner}</s>`,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
  codeBlock: (text, language) =>
    language === null
      ? `<pre>${escapeHtml(text)}</pre>`
      : `<pre><code class="language-${language}">${escapeHtml(text)}</code></pre>`,
  // Telegram refuses a quotation inside another.
  quote: (inner, isWithinQuote) => (isWithinQuote ? inner : `<blockquote>${inner}</blockquote>`),
  link,
};

/** The text that is left of Telegram's HTML when it is shown; the limits of the Bot API count this. */
export function visibleText(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** Telegram drops links to anything but these; where one leads must then stand in the text. */
function link(href: string, label: string): string {
  const address = escapeHtml(href);
  if (label === '' || label === address) return address;
  return /^(https?|tg|mailto):/i.test(href)
    ? `<a href="${address}">${label}</a>`
    : `${label} (${address})`;
}

/** Escapes everything that means something in HTML. */
function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
