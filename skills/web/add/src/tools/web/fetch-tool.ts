import pLimit from 'p-limit';
import { z } from 'zod';
import { defineTool } from '../../host/contracts/tool.ts';
import { cutText } from '../../lib/cut-text.ts';
import { fetchPage } from './client.ts';
import type { Internet } from './internet.ts';
import { hostOf, PageRefused, pageAddress } from './page-address.ts';
import { openPageCache, type ReadPage } from './page-cache.ts';
import { rawText, readPage } from './reading.ts';
import { openRobots } from './robots.ts';
import { ReadingSettings } from './settings.ts';
import { refusalOfSite } from './site-rules.ts';
import { asUntrusted } from './untrusted.ts';

const TIMEOUT_MS = 45_000;
/** Pages that are taken apart at once: each may take much memory. */
const MOST_READ_AT_ONCE = 2;
const MOST_CHARACTERS = 40_000;
/** Below the size at which results are cut, so that the end mark is never lost. */
const MOST_BYTES = 56_000;

const Input = z.object({
  url: z.string().max(4_096).describe('An http or https address'),
  format: z
    .enum(['readable', 'raw'])
    .default('readable')
    .describe('readable: the article as Markdown; raw: the source as it is'),
  from: z.number().int().min(0).default(0).describe('The character at which to begin'),
  length: z.number().int().min(100).max(MOST_CHARACTERS).default(20_000),
});

type Reading = {
  readonly format: 'readable' | 'raw';
  readonly checkSite: (url: URL) => void;
  /** Aborted with the turn, and at the end of its time. */
  readonly signal: AbortSignal;
};

/**
 * Defines the tool that reads pages of a net: of the internet, or of a test's own.
 *
 * @param readingMs the longest that the text of a page may take, once it is here
 */
export function webFetch(internet: Internet, readingMs = 15_000) {
  return defineTool({
    name: 'web_fetch',
    settings: ReadingSettings,
    create({ settings, now, newId }) {
      const { WEB_ALLOW: allow, WEB_DENY: deny, WEB_ROBOTS, WEB_CACHE_MINUTES } = settings;
      const cache = openPageCache(WEB_CACHE_MINUTES * 60_000, now);
      const inTurn = pLimit(MOST_READ_AT_ONCE);
      const robots = WEB_ROBOTS === 'yes' ? openRobots(internet, now) : null;
      return {
        description:
          'Reads a page of the public web: articles as Markdown, PDF files as text. It sees no page that needs a login, and no address of this machine or its network.',
        doing: 'reading a web page',
        isMainOnly: false,
        repeat: 'harmless',
        brings: 'outside',
        input: Input,
        async run({ caller: { folder }, signal }, { url, format, from, length }) {
          const checkSite = (one: URL) => {
            const refusal = refusalOfSite({ allow, deny }, { folder, host: hostOf(one) });
            if (refusal !== null) throw new PageRefused(refusal);
          };
          const key = `${format} ${pageAddress(url, internet.ownNetworks()).href}`;
          const known = cache.get(key);
          // Another chat may have read it, which may read more.
          for (const one of known?.way ?? []) checkSite(one);
          const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
          const page = known ?? (await read(url, { format, checkSite, signal: limit }));
          return shown(page, { from, length, nonce: newId() });
        },
      };

      async function read(url: string, { format, checkSite, signal }: Reading) {
        const fetched = await fetchPage(url, {
          internet,
          signal,
          followsRefresh: format === 'readable',
          async check(one) {
            checkSite(one);
            await robots?.check(one, signal);
          },
        });
        const { title, text } =
          format === 'raw' ? rawText(fetched) : await inTurn(() => readPage(fetched, readingMs));
        const { way, status, contentType } = fetched;
        const page = { url: fetched.url, way, status, contentType, title, text };
        const key = `${format} ${way[0]?.href}`;
        if (fetched.isCacheable) cache.keep(key, page);
        return page;
      }
    },
  });
}

function shown(
  { url, status, title, text }: ReadPage,
  {
    from,
    length,
    nonce,
  }: { readonly from: number; readonly length: number; readonly nonce: string },
): string {
  if (from > 0 && from >= text.length) {
    throw new PageRefused(`The page has ${text.length} characters; there is nothing at ${from}.`);
  }
  const { text: part } = cutText(wholeCharacters(text.slice(from, from + length)), MOST_BYTES);
  const end = from + part.length;
  const head = [`Address: ${url}`];
  if (title !== null && title !== '')
    head.push(`Title: ${title.replace(/\s+/g, ' ').slice(0, 300)}`);
  if (status >= 400) head.push(`The site answered with the error ${status}.`);
  const more =
    end < text.length
      ? `Characters ${from} to ${end} of ${text.length}. Go on with "from": ${end}.`
      : '';
  return asUntrusted(`${head.join('\n')}\n\n${part || '(The page is empty.)'}`, nonce, more);
}

/** Half a character at the end belongs to the next part. */
function wholeCharacters(part: string): string {
  return /[\uD800-\uDBFF]$/.test(part) && part.length > 1 ? part.slice(0, -1) : part;
}
