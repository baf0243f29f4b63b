/** A page that stays longer than this is to be read; it only renews itself. */
const MOST_SECONDS = 10;
/** Where a page says so is its head. */
const HEAD_BYTES = 16_384;

/** Not read by a browser here: comments, scripts, and what is for browsers without scripts. */
const NOT_READ =
  /<!--[\s\S]*?(?:-->|$)|<(script|style|noscript|template|textarea|title)\b[\s\S]*?(?:<\/\1|$)/gi;

/**
 * Returns the address to which a page sends its readers by itself, in its head (`<meta http-equiv="refresh">`) or by
 * the header of that name; null for none, or for the page itself.
 */
export function refreshIn(
  {
    url,
    contentType,
    body,
  }: { readonly url: string; readonly contentType: string; readonly body: Buffer },
  headers: Readonly<Record<string, string | string[] | undefined>>,
): URL | null {
  const said = [headers['refresh'] ?? []].flat();
  const isHtml = /^(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType.trim());
  const head = isHtml ? body.subarray(0, HEAD_BYTES).toString('latin1') : '';
  const all = [...said, ...contentsIn(head.replace(NOT_READ, ''))];
  const base = /<base\b[^>]{0,200}\bhref\s*=\s*["']?([^"'\s>]+)/i.exec(head)?.[1] ?? url;
  for (const content of all) {
    const [, seconds = '', address = ''] =
      /^\s*(\d{1,6})(?:\.\d*)?\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i.exec(content) ?? [];
    if (seconds === '' || Number(seconds) > MOST_SECONDS) continue;
    const target = URL.parse(address.trim(), URL.parse(base, url)?.href ?? url);
    if (target === null || !/^https?:$/.test(target.protocol)) continue;
    target.hash = '';
    if (target.href !== url.replace(/#.*$/, '')) return target;
  }
  return null;
}

function contentsIn(head: string): readonly string[] {
  return [...head.matchAll(/<meta\b([^<>]{0,1000})>/gi)].flatMap(([, attributes = '']) => {
    if (!/\bhttp-equiv\s*=\s*["']?\s*refresh\b/i.test(attributes)) return [];
    const [, double, single, bare] =
      /\bcontent\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i.exec(attributes) ?? [];
    return [(double ?? single ?? bare ?? '').replace(/&amp;/g, '&').replace(/&quot;|&#39;/g, "'")];
  });
}
