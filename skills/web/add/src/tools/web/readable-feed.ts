import { DOMParser } from 'linkedom';
import { shortened } from '../../lib/graphemes.ts';
import { withoutHidden } from '../../lib/shown-html/shown-html.ts';
import { type Readable, toMarkdown } from './readable-html.ts';

const MOST_ENTRIES = 100;
/** The most characters of one entry's text. */
const MOST_OF_ENTRY = 2_000;

/** Returns the entries of a feed as Markdown, in its order. */
export function readableFeed(xml: string, url: string): Readable {
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const root = document.documentElement;
  const channel = elementsIn(root, 'channel')[0] ?? root;
  const entries = [...root.querySelectorAll('item,entry')];
  const title = textIn(channel, 'title');
  const shown = entries.slice(0, MOST_ENTRIES).map((entry) => entryText(entry, url));
  const more = entries.length - shown.length;
  const rest = more > 0 ? [`(${more} older entries are left out.)`] : [];
  return {
    title: title === '' ? null : title,
    text: [textIn(channel, 'description') || textIn(channel, 'subtitle'), ...shown, ...rest]
      .filter((part) => part !== '')
      .join('\n\n'),
  };
}

type FeedElement = ReturnType<DOMParser['parseFromString']>['documentElement'];

function entryText(entry: FeedElement, url: string): string {
  const date = ['pubDate', 'published', 'updated', 'dc:date']
    .map((name) => textIn(entry, name))
    .find((text) => text !== '');
  const body = ['content:encoded', 'content', 'description', 'summary']
    .map((name) => textIn(entry, name))
    .find((text) => text !== '');
  const link = URL.parse(linkOf(entry), url);
  const isWeb = link !== null && /^https?:$/.test(link.protocol);
  const text = body === undefined ? '' : toMarkdown(withoutHidden(body).html);
  return [
    `## ${toMarkdown(withoutHidden(textIn(entry, 'title')).html).replace(/\s+/g, ' ')}`,
    [date, isWeb ? link.href : ''].filter((part) => part).join(' '),
    shortened(text, MOST_OF_ENTRY),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** RSS has the address as text, Atom as an attribute. */
function linkOf(entry: FeedElement): string {
  const links = elementsIn(entry, 'link');
  const own = links.find((link) => /^(?:alternate)?$/.test(link.getAttribute('rel') ?? ''));
  return own?.getAttribute('href') ?? own?.textContent?.trim() ?? '';
}

function textIn(element: FeedElement, name: string): string {
  return elementsIn(element, name)[0]?.textContent?.trim() ?? '';
}

function elementsIn(element: FeedElement, name: string): readonly FeedElement[] {
  return [...element.children].filter(
    (child) => child.tagName.toLowerCase() === name.toLowerCase(),
  );
}
