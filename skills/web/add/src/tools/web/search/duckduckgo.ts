import { parseHTML } from 'linkedom';
import { askServer, type Found, failure, plainText, type Search, SearchFailed } from './server.ts';

const SINCE = { day: 'd', week: 'w', month: 'm', year: 'y' } as const;

/** Searches by DuckDuckGo's page for browsers without scripts, which needs no key and may refuse programs. */
export function duckduckgo(address: string): Search {
  return async ({ query, count, since }, signal) => {
    const form = new URLSearchParams({ q: query, kl: 'wt-wt' });
    if (since !== null) form.set('df', SINCE[since]);
    const { status, text } = await askServer({
      server: 'DuckDuckGo',
      url: new URL('/html/', address),
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
      body: form.toString(),
      signal,
    });
    // Whom it takes for a robot is shown pictures of ducks, with 202 or 200.
    if (status === 202 || text.includes('anomaly-modal')) {
      throw new SearchFailed(
        'DuckDuckGo takes this for a robot and gives no results for now. A search server with a key is more reliable: `npx claw setup web`.',
      );
    }
    if (status !== 200) throw failure('DuckDuckGo', status);
    return resultsIn(text, count);
  };
}

/**
 * Goes over the page once, in its order: a link begins a result, and the snippet after it belongs to it. Looking
 * into each of nested results would keep the assistant for a minute at a page of 400 KB.
 */
function resultsIn(html: string, most: number): readonly Found[] {
  const { document } = parseHTML(html);
  const found: Found[] = [];
  let isAd = false;
  let hasSnippet = true;
  for (const element of document.querySelectorAll('.result, a.result__a, .result__snippet')) {
    const { classList } = element;
    if (classList.contains('result')) {
      isAd = classList.contains('result--ad');
      hasSnippet = true;
    } else if (classList.contains('result__a')) {
      const url = isAd ? null : addressIn(element.getAttribute('href') ?? '');
      hasSnippet = url === null;
      if (url === null) continue;
      if (found.length === most) break;
      found.push({ title: plainText(element.textContent ?? ''), url, snippet: '', date: null });
    } else if (!hasSnippet) {
      hasSnippet = true;
      const last = found.pop();
      if (last !== undefined)
        found.push({ ...last, snippet: plainText(element.textContent ?? '') });
    }
  }
  return found;
}

/** Links lead by way of DuckDuckGo, which knows then what was chosen: `//duckduckgo.com/l/?uddg=…`. */
function addressIn(href: string): string | null {
  const url = URL.parse(href, 'https://duckduckgo.com');
  const target = url?.searchParams.get('uddg') ?? url?.href ?? '';
  // y.js is the way to advertisements.
  return /^https?:\/\//.test(target) && !/duckduckgo\.com\/y\.js/.test(target) ? target : null;
}
