import robotsParser from 'robots-parser';
import { fetchPage } from './client.ts';
import type { Internet } from './internet.ts';
import { PageRefused } from './page-address.ts';

const KEPT_MS = 86_400_000;
const MOST_KEPT = 500;

/** The rules of the sites' own `robots.txt` for programs. */
export type Robots = { check(url: URL, signal: AbortSignal): Promise<void> };

const parse = robotsParser as unknown as (
  url: string,
  text: string,
) => { isAllowed(url: string, agent: string): boolean | undefined };

/**
 * Opens the look at `robots.txt`. A site without one allows everything, and one whose file cannot be had at the
 * moment nothing.
 *
 * Source: RFC 9309, sections 2.3.1.3 and 2.3.1.4
 */
export function openRobots(internet: Internet, now: () => number): Robots {
  const kept = new Map<string, { readonly text: string; readonly until: number }>();

  async function rulesOf(origin: string, signal: AbortSignal): Promise<string> {
    const known = kept.get(origin);
    if (known !== undefined && known.until > now()) return known.text;
    const text = await fetchRules(origin, internet, signal);
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value ?? '');
    kept.set(origin, { text, until: now() + KEPT_MS });
    return text;
  }

  return {
    async check(url, signal) {
      const text = await rulesOf(url.origin, signal);
      const isAllowed = parse(`${url.origin}/robots.txt`, text).isAllowed(url.href, 'Patchclaw');
      if (isAllowed === false) {
        throw new PageRefused(`${url.host} does not want programs to read this page (robots.txt).`);
      }
    },
  };
}

async function fetchRules(origin: string, internet: Internet, signal: AbortSignal) {
  const { status, body } = await fetchPage(`${origin}/robots.txt`, {
    internet,
    signal,
    accept: 'text/plain',
  });
  if (status >= 500)
    throw new PageRefused(`${origin} cannot say what may be read: error ${status}.`);
  return status >= 400 ? '' : body.toString();
}
