import type { Entry, Page } from '../command.ts';
import { keepFresh } from '../live.ts';
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

/** For so long the chat before is left in place. */
const PATIENCE_MS = 150;

/**
 * Follows a chat. Until its first page is here the history is that of the chat before: going to another chat is drawn
 * once, and not first without its words.
 */
export function useHistory(jid: string | null): readonly [History | null, () => Promise<void>] {
  const [history, setHistory] = useState<History | null>(null);
  useLayoutEffect(() => {
    if (jid === null) return;
    let isGone = false;
    const nothing: History = { jid, page: null, past: [], isAll: false };
    const slow = setTimeout(() => {
      setHistory((before) => (before?.jid === jid ? before : nothing));
    }, PATIENCE_MS);
    const read = async () => {
      const page = await get<Page>('chat/history', { jid }).catch(() => null);
      if (isGone || page === null) return;
      setHistory((before) => {
        if (before?.jid !== jid || before.page === null) {
          return { jid, page, past: [], isAll: page.isAll };
        }
        return { ...before, page, past: pastOf(before.past, before.page.entries, page.entries) };
      });
    };
    const end = keepFresh(
      (event) => event.kind === 'hello' || (event.kind === 'chat' && event.jid === jid),
      read,
    );
    return () => {
      isGone = true;
      clearTimeout(slow);
      end();
    };
  }, [jid]);
  const older = async () => {
    if (history === null) return;
    const entries = entriesOf(history);
    const before = { message: lowest(entries, 'message'), answer: lowest(entries, 'answer') };
    const more = await get<Page>('chat/history', { jid: history.jid, ...before });
    setHistory((now) => {
      if (now?.jid !== history.jid) return now;
      return { ...now, past: [...more.entries, ...now.past], isAll: more.isAll };
    });
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
