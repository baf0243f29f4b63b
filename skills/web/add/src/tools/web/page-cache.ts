import type { Readable } from './readable-html.ts';

/** A page that was read, with every address on the way to it. */
export type ReadPage = Readable & {
  readonly url: string;
  readonly way: readonly URL[];
  readonly status: number;
  readonly contentType: string;
};

/** Pages that were read lately, so that the next part of a long one needs no other request. */
export type PageCache = {
  get(key: string): ReadPage | null;
  keep(key: string, page: ReadPage): void;
};

const MOST_CHARACTERS = 20_000_000;

/** Opens a cache in memory. What was not asked for longest goes first. */
export function openPageCache(keptMs: number, now: () => number): PageCache {
  const pages = new Map<string, { readonly page: ReadPage; readonly until: number }>();
  let characters = 0;

  function drop(key: string): void {
    characters -= pages.get(key)?.page.text.length ?? 0;
    pages.delete(key);
  }

  return {
    get(key) {
      const found = pages.get(key);
      if (found === undefined) return null;
      if (found.until <= now()) {
        drop(key);
        return null;
      }
      // A map keeps the order in which keys came.
      pages.delete(key);
      pages.set(key, found);
      return found.page;
    },
    keep(key, page) {
      if (keptMs === 0 || page.text.length > MOST_CHARACTERS / 4) return;
      drop(key);
      pages.set(key, { page, until: now() + keptMs });
      characters += page.text.length;
      for (const oldest of pages.keys()) {
        if (characters <= MOST_CHARACTERS) break;
        drop(oldest);
      }
    },
  };
}
