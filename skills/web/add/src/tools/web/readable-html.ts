import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { NodeHtmlMarkdown } from 'node-html-markdown';

/** The readable part of a page. */
export type Readable = { readonly title: string | null; readonly text: string };

/** Less than this is a teaser or a notice about cookies: the whole page says more. */
const LEAST_CHARACTERS = 200;

/** Never text of the page, or not seen by its readers; hidden text is where orders to an assistant stand. */
const UNSEEN =
  'script,style,noscript,template,iframe,object,embed,svg,canvas,form,[hidden],[aria-hidden="true"],[style*="display:none"],[style*="display: none"],[style*="visibility:hidden"],[style*="visibility: hidden"]';

/**
 * Returns the readable part of an HTML page as Markdown: the article, as a browser's reader view shows it, or
 * the whole page where it is no article. Links are whole addresses.
 *
 * @param url the address of the page, to which its links are relative
 */
export function readableHtml(html: string, url: string): Readable {
  const { document } = parseHTML(html.includes('<') ? html : `<p>${html}</p>`);
  const title = document.querySelector('title')?.textContent?.trim() ?? null;
  for (const element of document.querySelectorAll(UNSEEN)) element.remove();
  completeLinks(document, url);
  const whole = toMarkdown(document.querySelector('body')?.innerHTML ?? html);
  const article = articleIn(document);
  const text = article === null ? '' : toMarkdown(article.html);
  const isArticle = text.length >= Math.min(LEAST_CHARACTERS, whole.length / 2);
  return isArticle
    ? { title: article?.title ?? title, text: withByline(article?.byline ?? null, text) }
    : { title, text: whole };
}

type Page = ReturnType<typeof parseHTML>['document'];

function completeLinks(document: Page, url: string): void {
  const href = document.querySelector('base[href]')?.getAttribute('href') ?? url;
  const base = URL.parse(href, url)?.href ?? url;
  for (const [selector, name] of [
    ['a[href]', 'href'],
    ['img[src]', 'src'],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const whole = URL.parse(element.getAttribute(name) ?? '', base);
      // A picture in the address itself, or a script, is nothing to read.
      if (whole !== null && /^(?:https?|mailto|tel):$/.test(whole.protocol)) {
        element.setAttribute(name, whole.href);
      } else element.removeAttribute(name);
    }
  }
}

function articleIn(document: Page) {
  // It takes the document apart, which is not needed any more.
  const article = new Readability(document as never, { charThreshold: LEAST_CHARACTERS }).parse();
  if (article?.content == null) return null;
  return { html: article.content, title: article.title ?? null, byline: article.byline ?? null };
}

function toMarkdown(html: string): string {
  return NodeHtmlMarkdown.translate(html, { maxConsecutiveNewlines: 2, bulletMarker: '-' }).trim();
}

function withByline(byline: string | null, text: string): string {
  return byline === null || byline.trim() === '' ? text : `By ${byline.trim()}\n\n${text}`;
}
