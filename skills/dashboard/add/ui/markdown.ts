import { memo } from './memo.ts';
import {
  type ComponentChildren,
  h,
  html,
  markdownTokens,
  type Token,
  type VNode,
} from './vendor.ts';

/**
 * Shows Markdown of models and people. Nothing of it becomes markup: tags show as the text that they are, pictures as
 * links, and a link leads only to the web or a mail address, without telling where from.
 */
export const Markdown = memo(
  ({ text }: { readonly text: string }): VNode =>
    html`<div class="markdown">${blocks(markdownTokens(text))}</div>`,
  // A chat is drawn anew with each word of an answer: what was said before is not taken apart again.
  ({ text }) => [text],
);

function blocks(tokens: readonly Token[]): ComponentChildren[] {
  return tokens.map(block);
}

function block(token: Token): ComponentChildren {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return h(`h${Math.min(6, Number(token['depth']) + 2)}`, null, inline(token.tokens));
    case 'paragraph':
      return html`<p>${inline(token.tokens)}</p>`;
    case 'text':
      return token.tokens === undefined ? plain(token) : inline(token.tokens);
    case 'code':
      return html`<pre tabindex="0"><code>${String(token['text'])}</code></pre>`;
    case 'blockquote':
      return html`<blockquote>${blocks(token.tokens ?? [])}</blockquote>`;
    case 'list': {
      const items = (token['items'] as Token[]).map(
        (item) => html`<li>${blocks(item.tokens ?? [])}</li>`,
      );
      return token['ordered']
        ? html`<ol start=${Number(token['start']) || 1}>${items}</ol>`
        : html`<ul>${items}</ul>`;
    }
    case 'hr':
      return html`<hr />`;
    case 'table':
      return table(token);
    default:
      return html`<p>${plain(token)}</p>`;
  }
}

type Cell = { readonly tokens: Token[] };

function table(token: Token): VNode {
  const row = (cells: Cell[], tag: string) =>
    html`<tr>${cells.map((cell) => h(tag, null, inline(cell.tokens)))}</tr>`;
  return html`<div class="scroll" tabindex="0"><table>
    <thead>${row(token['header'] as Cell[], 'th')}</thead>
    <tbody>${(token['rows'] as Cell[][]).map((cells) => row(cells, 'td'))}</tbody>
  </table></div>`;
}

function inline(tokens: readonly Token[] = []): ComponentChildren[] {
  return tokens.map((token) => {
    switch (token.type) {
      case 'strong':
        return html`<strong>${inline(token.tokens)}</strong>`;
      case 'em':
        return html`<em>${inline(token.tokens)}</em>`;
      case 'del':
        return html`<del>${inline(token.tokens)}</del>`;
      case 'codespan':
        return html`<code>${String(token['text'])}</code>`;
      case 'br':
        return html`<br />`;
      case 'link':
        return link(String(token['href']), inline(token.tokens));
      case 'image':
        return link(String(token['href']), [String(token['text'] || token['href'])]);
      case 'checkbox':
        return token['checked'] ? '☑ ' : '☐ ';
      case 'text':
        return token.tokens === undefined ? plain(token) : inline(token.tokens);
      default:
        return plain(token);
    }
  });
}

/** Returns what was written; entities such as `&amp;` stay as they are. */
function plain(token: Token): string {
  return 'text' in token && token.type !== 'html' ? String(token['text']) : token.raw;
}

function link(href: string, children: ComponentChildren[]): VNode {
  return isSafe(href)
    ? html`<a href=${href} target="_blank" rel="noopener noreferrer nofollow">${children}</a>`
    : html`<span>${children} (${href})</span>`;
}

function isSafe(href: string): boolean {
  return URL.canParse(href) && ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol);
}
