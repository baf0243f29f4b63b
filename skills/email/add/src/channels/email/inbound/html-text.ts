import { NodeHtmlMarkdown } from 'node-html-markdown';
import { withoutHidden } from '../../../lib/shown-html/shown-html.ts';

const LONGEST_HTML = 200_000;
/** The library's time grows with the square of both: 40,000 tags, or 2,000 within each other, take seconds. */
const MOST_TAGS = 4_000;
const MOST_OPEN_TAGS = 300;
const WITHOUT_END = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const QUOTED =
  /<(div|blockquote)\b[^>]{0,300}(gmail_quote|yahoo_quoted|divRplyFwdMsg|moz-cite-prefix|protonmail_quote|type="?cite)[\s\S]*$/i;
const LINE_ENDS = /<(?:br|\/(?:p|div|li|tr|h[1-6]|blockquote))\b[^<>]*>/gi;
const ENTITIES: Readonly<Record<string, string>> = {
  '&nbsp;': ' ',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
};

/** The text of HTML, and whether it hides some. */
export type HtmlText = { readonly text: string; readonly hasHidden: boolean };

/**
 * Turns HTML into Markdown, without the mail that it answers and without what is not shown. HTML with more tags than a
 * person's is only freed of them. Anybody can send a mail, so its time is bounded by the length.
 */
export function textOfHtml(source: string): HtmlText {
  const { html, hasHidden } = withoutHidden(source.slice(0, LONGEST_HTML));
  return { text: markdownOf(withoutUnshown(html).replace(QUOTED, '')), hasHidden };
}

function markdownOf(shown: string): string {
  if (isHeavy(shown)) return withoutTags(shown);
  try {
    return NodeHtmlMarkdown.translate(shown, { ignore: ['img', 'svg', 'iframe', 'object'] }).trim();
  } catch {
    return withoutTags(shown);
  }
}

/** Takes out comments, scripts and the like. One without an end stays, and its end is looked for once. */
function withoutUnshown(html: string): string {
  const begins = /<!--|<(script|style|head|title)\b/gi;
  const endless = new Set<string>();
  let kept = '';
  let at = 0;
  for (let begin = begins.exec(html); begin !== null; begin = begins.exec(html)) {
    const name = begin[1]?.toLowerCase() ?? '';
    if (endless.has(name)) continue;
    const end = name === '' ? /-->/g : new RegExp(`</${name}\\s*>`, 'gi');
    end.lastIndex = begins.lastIndex;
    if (end.test(html)) {
      kept += html.slice(at, begin.index);
      at = end.lastIndex;
      begins.lastIndex = at;
    } else {
      endless.add(name);
    }
  }
  return kept + html.slice(at);
}

function isHeavy(html: string): boolean {
  const open = new Map<string, number>();
  let tags = 0;
  let depth = 0;
  for (const [, slash, typed = ''] of html.matchAll(/<(\/?)([a-z][\w:-]{0,40})/gi)) {
    tags += 1;
    const name = typed.toLowerCase();
    const before = open.get(name) ?? 0;
    if (slash === '/' && before > 0) {
      open.set(name, before - 1);
      depth -= 1;
    } else if (slash === '' && !WITHOUT_END.test(name)) {
      open.set(name, before + 1);
      depth += 1;
    }
    if (tags > MOST_TAGS || depth > MOST_OPEN_TAGS) return true;
  }
  return false;
}

function withoutTags(html: string): string {
  return html
    .replace(LINE_ENDS, '\n')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(?:nbsp|lt|gt|quot|amp);/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/[ \t]+/g, ' ')
    .trim();
}
