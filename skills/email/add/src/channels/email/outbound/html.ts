import { Marked, type Tokens } from 'marked';
import { unlessNested } from '../../../lib/markdown-guard.ts';
import { SHORT_WORDS } from '../../../lib/markdown-words.ts';

/** Writes Markdown as HTML for a mail. HTML in it is shown as it is written, pictures as links; nothing is loaded. */
export function htmlOf(markdown: string): string {
  const reader = new Marked({
    async: false,
    gfm: true,
    tokenizer: SHORT_WORDS,
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
      image: ({ href, text }) =>
        isWeb(href) ? linkTo(href, escaped(text || href)) : escaped(text),
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
      hr: () => '<p>* * *</p>\n',
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        return isWeb(href) ? linkTo(href, words) : words;
      },
    },
  });
  return unlessNested(
    markdown,
    (text) => String(reader.parse(text)).trim(),
    (text) => `<pre>${escaped(text)}</pre>`,
  );
}

function linkTo(href: string, words: string): string {
  return `<a href="${escaped(href)}">${words}</a>`;
}

function isWeb(href: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(href);
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
