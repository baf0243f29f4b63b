import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { NodeHtmlMarkdown } from 'node-html-markdown';
import { jsonWithin } from '../../lib/bounded-json.ts';
import { withoutHidden } from '../../lib/shown-html/shown-html.ts';

/** The readable part of a page. */
export type Readable = { readonly title: string | null; readonly text: string };

/** Less than this is a teaser or a notice about cookies: the whole page says more. */
const LEAST_CHARACTERS = 200;

/** Never text of the page. */
const NO_TEXT = 'script,style,template,iframe,object,embed,svg,canvas,input,select,button,textarea';

/** The most characters of the data of a page that has no text of its own. */
const MOST_DATA = 20_000;

/**
 * Returns the readable part of an HTML page as Markdown: the article, as a browser's reader view shows it, or
 * the whole page where it is no article. Links are whole addresses. A page with hardly any text is read from what it
 * has for readers without scripts, from its data for search engines and from its frames, and the text says so.
 *
 * @param url the address of the page, to which its links are relative
 */
export function readableHtml(source: string, url: string): Readable {
  // Serialised again, every tag is whole: the reader of hidden text and the parser cannot differ about one.
  const { html } = withoutHidden(parsed(source).document.toString());
  const page = readText(html, url, 'drop');
  if (page.text.length >= LEAST_CHARACTERS) return page;
  const withNoscript = readText(html, url, 'show');
  const best = withNoscript.text.length > page.text.length ? withNoscript : page;
  const parts = [best.text, ...otherSources(parsed(html).document, url)];
  return { ...best, text: parts.filter((part) => part !== '').join('\n\n') };
}

function parsed(html: string) {
  return parseHTML(html.includes('<') ? html : `<p>${html}</p>`);
}

function readText(html: string, url: string, noscript: 'drop' | 'show'): Readable {
  const { document } = parsed(html);
  const title = document.querySelector('title')?.textContent?.trim() ?? null;
  for (const element of document.querySelectorAll(NO_TEXT)) element.remove();
  for (const element of document.querySelectorAll('noscript')) {
    if (noscript === 'drop') element.remove();
    else element.replaceWith(...element.childNodes);
  }
  dropConsent(document);
  // What is still here is seen; the search for an article would judge it once more, and worse.
  for (const element of document.querySelectorAll('[style],[hidden]')) {
    element.removeAttribute('style');
    element.removeAttribute('hidden');
  }
  // Some sites have all of a page in one form; the search for an article leaves forms out.
  for (const form of document.querySelectorAll('form')) form.replaceWith(...form.childNodes);
  completeLinks(document, url);
  const whole = toMarkdown(document.querySelector('body')?.innerHTML ?? html);
  const article = articleIn(document);
  const text = article === null ? '' : toMarkdown(article.html);
  const isArticle = text.length >= Math.min(LEAST_CHARACTERS, whole.length / 2);
  return isArticle
    ? { title: article?.title ?? title, text: withByline(article?.byline ?? null, text) }
    : { title, text: whole };
}

/** Names that banners about cookies have, of their makers and of sites that write their own. */
const CONSENT =
  /onetrust|cookiebot|usercentrics|didomi|truste|qc-cmp|cc-window|klaro|iubenda|(?:cookies?|consent|gdpr|privacy)[-_]?(?:banner|notice|bar|popup|modal|dialog|layer|overlay|message|consent|law|hint|alert|prompt)/i;
const MOST_CONSENT_CHARACTERS = 4_000;

/** Takes banners that ask about cookies out: by their name, their words, and where the page says more than they do. */
function dropConsent(document: Page): void {
  const body = document.querySelector('body');
  for (const element of document.querySelectorAll('[id],[class]')) {
    const names = `${element.getAttribute('id') ?? ''} ${element.getAttribute('class') ?? ''}`;
    if (!CONSENT.test(names) || /^(?:html|body|main|article)$/i.test(element.tagName)) continue;
    const text = element.textContent ?? '';
    if (text.length > MOST_CONSENT_CHARACTERS || !/cookie|consent/i.test(text)) continue;
    // A page about nothing else is to be read.
    if (text.trim().length * 2 < (body?.textContent ?? '').trim().length) element.remove();
  }
}

/** Returns what a page has for programs and in frames, and whether scripts would make the rest of it. */
function otherSources(document: Page, url: string): readonly string[] {
  const data = [...document.querySelectorAll('script[type="application/ld+json"]')].flatMap(
    (script) => jsonIn(script.textContent ?? ''),
  );
  const shownData = data.map((one) => JSON.stringify(one, null, 1)).join('\n');
  const frames = [...document.querySelectorAll('frame[src],iframe[src]')].flatMap((frame) => {
    const whole = URL.parse(frame.getAttribute('src') ?? '', url);
    return whole !== null && /^https?:$/.test(whole.protocol) ? [`- ${whole.href}`] : [];
  });
  const scripts = [...document.querySelectorAll('script')].filter((script) =>
    /^(?:|module|(?:text|application)\/(?:java|ecma)script)$/i.test(
      script.getAttribute('type') ?? '',
    ),
  );
  return [
    ...(data.length === 0
      ? []
      : [`Data of the page for search engines (JSON-LD):\n\n${shownData.slice(0, MOST_DATA)}`]),
    ...(frames.length === 0
      ? []
      : [`The page shows other pages in frames:\n\n${frames.join('\n')}`]),
    ...(scripts.length === 0 ? [] : [NEEDS_SCRIPTS]),
  ];
}

const NEEDS_SCRIPTS =
  '(The page has hardly any text of its own, and scripts, which do not run here: it needs JavaScript to show the rest. Its source can be had with the format raw.)';

function jsonIn(text: string): readonly unknown[] {
  // What is no data, or is beyond all bounds, is not read.
  const value = jsonWithin(text);
  return value === undefined ? [] : [value];
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

/** Turns HTML into Markdown. */
export function toMarkdown(html: string): string {
  return NodeHtmlMarkdown.translate(html, { maxConsecutiveNewlines: 2, bulletMarker: '-' }).trim();
}

function withByline(byline: string | null, text: string): string {
  return byline === null || byline.trim() === '' ? text : `By ${byline.trim()}\n\n${text}`;
}
