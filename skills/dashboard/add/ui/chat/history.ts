import type { Entry, Page } from '../command.ts';
import { keepFresh, type LiveEvent, onLive } from '../live.ts';
import { get } from '../page.ts';
import { useLayoutEffect, useState } from '../vendor.ts';

/** What is known of a chat: its newest page, none yet if that is slow to come, and pages of the past that were asked for. */
export type History = {
  readonly jid: string;
  readonly page: Page | null;
  readonly past: readonly Entry[];
  /** Nothing is older than what is here. */
  readonly isAll: boolean;
};

/** The newest page of a chat that is about to be shown. */
type Ahead = {
  readonly jid: string;
  readonly reading: Promise<Page | null>;
  page: Page | null;
  /** More was said since it was asked for. */
  isStale: boolean;
};

let ahead: (Ahead & { end(): void }) | null = null;
/** The chat whose history is shown. */
let shown: string | null = null;

/** Begins to read a chat before it is shown; null if it is shown already. */
export function readAhead(jid: string): Promise<unknown> | null {
  ahead?.end();
  ahead = null;
  if (jid === shown) return null;
  const isMeant = isAbout(jid);
  const end = onLive((event) => {
    if (isMeant(event)) one.isStale = true;
  });
  const one = { jid, reading: newest(jid), page: null as Page | null, isStale: false, end };
  ahead = one;
  return one.reading.then((page) => {
    one.page = page;
  });
}

function takeAhead(jid: string): Ahead | null {
  const found = ahead?.jid === jid ? ahead : null;
  found?.end();
  if (found !== null) ahead = null;
  return found;
}

async function newest(jid: string): Promise<Page | null> {
  return await get<Page>('chat/history', { jid }).catch(() => null);
}

function isAbout(jid: string) {
  return (event: LiveEvent): boolean =>
    event.kind === 'hello' || (event.kind === 'chat' && event.jid === jid);
}

/** Follows the chat of a view that is made anew for each chat. */
export function useHistory(jid: string): readonly [History, () => Promise<void>] {
  const [early] = useState(() => takeAhead(jid));
  const [history, setHistory] = useState<History>(() => {
    const page = early?.page ?? null;
    return { jid, page, past: [], isAll: page?.isAll ?? false };
  });
  useLayoutEffect(() => {
    shown = jid;
    let isGone = false;
    let first = early?.isStale === false ? early.reading : null;
    const read = async () => {
      const page = await (first ?? newest(jid));
      first = null;
      if (isGone || page === null) return;
      setHistory((before) =>
        before.page === null
          ? { jid, page, past: [], isAll: page.isAll }
          : { ...before, page, past: pastOf(before.past, before.page.entries, page.entries) },
      );
    };
    const isHere = early?.isStale === false && early.page !== null;
    if (isHere) first = null;
    const end = keepFresh(isAbout(jid), read, !isHere);
    return () => {
      isGone = true;
      if (shown === jid) shown = null;
      end();
    };
  }, []);
  const older = async () => {
    const entries = entriesOf(history);
    const before = { message: lowest(entries, 'message'), answer: lowest(entries, 'answer') };
    const more = await get<Page>('chat/history', { jid, ...before });
    setHistory((now) => ({
      ...now,
      past: [...more.entries, ...now.past],
      isAll: more.isAll,
    }));
  };
  return [history, older];
}

/** Returns the entries of a chat that are here, oldest first. */
export function entriesOf({ page, past }: History): readonly Entry[] {
  return page === null ? [] : [...pastOf(past, [], page.entries), ...page.entries];
}

/** Returns what was read before and is older than the newest page. */
function pastOf(
  older: readonly Entry[],
  before: readonly Entry[],
  page: readonly Entry[],
): readonly Entry[] {
  const known = new Set(page.map(({ kind, seq }) => `${kind}${seq}`));
  const from = { message: lowest(page, 'message'), answer: lowest(page, 'answer') };
  return [...older, ...before].filter(
    ({ kind, seq }) => !known.has(`${kind}${seq}`) && seq < from[kind],
  );
}

function lowest(entries: readonly Entry[], kind: Entry['kind']): number {
  const seqs = entries.filter((entry) => entry.kind === kind).map(({ seq }) => seq);
  return seqs.length === 0 ? Number.MAX_SAFE_INTEGER : Math.min(...seqs);
}
