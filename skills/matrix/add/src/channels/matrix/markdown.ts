import type { Notation } from '../kit/markdown.ts';
import { renderParts } from '../kit/render-parts.ts';

/**
 * The longest message, in bytes as JSON. An event has 65,536 bytes for the text twice, as HTML and plain, which
 * encryption makes a third longer.
 */
export const LIMIT = 20_000;

/** One message: as plain text, and as HTML where that shows more. */
export type Words = { readonly body: string; readonly html: string | null };

const EM_SPACE = '\u2003';

/** The HTML that Matrix's apps show. Line ends become `<br>` afterwards, but for those in code. */
const HTML: Notation = {
  escape: escaped,
  bold: (inner) => `<strong>${inner}</strong>`,
  italic: (inner) => `<em>${inner}</em>`,
  struck: (inner) => `<del>${inner}</del>`,
  code: (text) => `<code>${escaped(text)}</code>`,
  codeBlock: (text, language) =>
    `<pre><code${language === null ? '' : ` class="language-${language}"`}>${escaped(text)}</code></pre>`,
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
  link(href, label) {
    const address = escaped(href);
    if (!/^(https?|mailto|matrix|ftp|magnet):/i.test(href)) {
      return label === '' || label === address ? address : `${label} (${address})`;
    }
    return `<a href="${address}">${label === '' ? address : label}</a>`;
  },
  // Apps show spaces at the beginning of a line as one.
  indent: EM_SPACE,
};

/** Turns Markdown of any length into messages that fit, in order. Text without words gives none. */
export function formatParts(markdown: string): readonly Words[] {
  return renderParts(markdown, HTML, { limit: LIMIT, lengthOf: bytesOf }).map(
    ({ text, plain }) => ({ body: plain, html: text === escaped(plain) ? null : withLines(text) }),
  );
}

function bytesOf(html: string): number {
  return Buffer.byteLength(JSON.stringify(withLines(html)));
}

function withLines(html: string): string {
  return html
    .split(/(<pre>.*?<\/pre>\n?)/s)
    .map((piece) =>
      piece.startsWith('<pre>') ? piece.replace(/\n$/, '') : piece.replaceAll('\n', '<br>'),
    )
    .join('');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
