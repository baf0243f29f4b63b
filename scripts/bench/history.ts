/**
 * Measures a search among a million messages of a thousand groups, and the cost of its index when messages
 * are stored.
 *
 *     npx node scripts/bench/history.ts
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import Database from 'better-sqlite3';
import { openStore, type Store } from '../../src/store/store.ts';

export type HistoryPlan = {
  readonly groups: number;
  readonly stored: number;
  readonly searches: number;
};

export type HistoryBench = HistoryPlan & {
  /** Microseconds a message, a hundred to a commit, without the index and with it. */
  readonly storeUs: { readonly without: number; readonly withIndex: number };
  /** Milliseconds by what is looked for: in groups of the average size, and in one of ten messages. */
  readonly found: readonly (Spread & { readonly what: string })[];
  /** Milliseconds for a look at every match of the common word, which a search must not take. */
  readonly allMatchesMs: number;
  /** Seconds to index all that is there, as the migration does, and to delete one group. */
  readonly indexSeconds: number;
  readonly deleteSeconds: number;
};

type Spread = { readonly p50Ms: number; readonly p99Ms: number };

const GOAL: HistoryPlan = { groups: 1_000, stored: 1_000_000, searches: 500 };
const WORDS = 30_000;
const AT_ONCE = 100;
const TINY = 'chat:tiny@g.us';

if (import.meta.main) printHistory(await benchHistory());

/** Prints a measurement with its goals. */
export function printHistory(bench: HistoryBench): void {
  const { groups, stored, storeUs, found, allMatchesMs, indexSeconds, deleteSeconds } = bench;
  console.log(`history, ${groups} groups, ${stored} messages`);
  console.log(
    `  storing a message takes ${storeUs.without.toFixed(0)} µs, with the index ${storeUs.withIndex.toFixed(0)} µs`,
  );
  for (const { what, p50Ms, p99Ms } of found) {
    console.log(`  ${what}: ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`);
  }
  console.log(
    `  all matches of the common word, which no search looks at: ${allMatchesMs.toFixed(0)} ms`,
  );
  console.log(
    `  indexing all of it ${indexSeconds.toFixed(1)} s, deleting a group ${deleteSeconds.toFixed(1)} s`,
  );
}

export async function benchHistory(plan: HistoryPlan = GOAL): Promise<HistoryBench> {
  const dir = await mkdtemp(join(tmpdir(), 'claw-history-'));
  const path = join(dir, 'claw.db');
  const random = randomly();
  const store = openStore({ path, now: 0 });
  const database = new Database(path);
  try {
    fill(store, plan, random);
    const trigger = database
      .prepare("SELECT sql FROM sqlite_master WHERE name = 'messages_are_indexed'")
      .pluck()
      .get();
    const extra = Math.min(20_000, plan.stored);
    const withIndex = storeUs(store, plan, extra, random);
    database.exec('DROP TRIGGER messages_are_indexed');
    const without = storeUs(store, plan, extra, random);
    database.exec(String(trigger));
    const found = searchAll(store, plan, random);
    const allMatchesMs = timed(() =>
      database
        .prepare(`SELECT count(*) FROM message_words JOIN messages ON seq = message_words.rowid
          WHERE message_words MATCH 'text : "the"' AND sent_at > 0`)
        .get(),
    );
    const indexMs = timed(() =>
      database.exec("INSERT INTO message_words (message_words) VALUES ('rebuild')"),
    );
    database.close();
    const deleteMs = timed(() => store.removeGroup(jidOf(0)));
    return {
      ...plan,
      storeUs: { without, withIndex },
      found,
      allMatchesMs,
      indexSeconds: indexMs / 1_000,
      deleteSeconds: deleteMs / 1_000,
    };
  } finally {
    database.close();
    store.close();
    await rm(dir, { recursive: true, force: true });
  }
}

function fill(store: Store, { groups, stored }: HistoryPlan, random: () => number): void {
  const jids = [...Array.from({ length: groups }, (_, at) => jidOf(at)), TINY];
  store.transaction(() => {
    for (const jid of jids)
      store.chats.see({ jid, channel: 'chat', name: jid, isDirect: false }, 0);
  });
  let at = 0;
  for (let left = stored; left > 0; left -= 10_000) {
    store.transaction(() => {
      for (let count = 0; count < Math.min(left, 10_000); count += 1) {
        at += 1;
        const isTiny = at % Math.ceil(stored / 10) === 0;
        say(store, isTiny ? TINY : jidOf(Math.floor(random() * groups)), at, random);
      }
    });
  }
}

function storeUs(
  store: Store,
  { groups }: HistoryPlan,
  count: number,
  random: () => number,
): number {
  const tookMs = timed(() => {
    for (let from = 0; from < count; from += AT_ONCE) {
      store.transaction(() => {
        for (let each = 0; each < AT_ONCE; each += 1) {
          say(store, jidOf(Math.floor(random() * groups)), Math.floor(random() * 2 ** 50), random);
        }
      });
    }
  });
  return (tookMs * 1_000) / count;
}

function searchAll(store: Store, { groups, searches }: HistoryPlan, random: () => number) {
  const rare = () => wordOf(Math.floor(WORDS * (0.9 + random() / 10)));
  const texts = {
    'a common word': () => 'the',
    'two common words': () => `the ${wordOf(1)}`,
    'a rare word': rare,
    'a common and a rare word': () => `the ${rare()}`,
    'a phrase': () => `"the ${wordOf(2)}"`,
    'a script without spaces': () => '東京',
  };
  const kinds = Object.entries(texts).map(
    ([what, text]) => [what, text, () => jidOf(Math.floor(random() * groups))] as const,
  );
  const all = [...kinds, ['a common word in a group of ten', () => 'the', () => TINY] as const];
  store.search.find({ jids: [TINY], text: 'the', from: 0, until: 1, limit: 1 });
  return all.map(([what, text, jid]) => {
    const took = Array.from({ length: searches }, () => {
      const wish = { jids: [jid()], text: text(), from: 0, until: Number.MAX_SAFE_INTEGER };
      return timed(() => store.search.find({ ...wish, limit: 15 }));
    }).sort((one, other) => one - other);
    const at = (share: number): number => took[Math.floor(took.length * share)] ?? Number.NaN;
    return { what, p50Ms: at(0.5), p99Ms: at(0.99) };
  });
}

/** The common word, and a few of the list, in which later words are rarer. */
function say(store: Store, jid: string, at: number, random: () => number): void {
  const words = Array.from({ length: 4 + Math.floor(random() * 16) }, () =>
    wordOf(Math.floor(random() ** 3 * WORDS)),
  );
  const message = { jid, id: `m${at}`, sender: 'ada', senderName: 'Ada', isOwner: false };
  store.messages.add({ ...message, text: `the ${words.join(' ')}`, sentAt: at + 1 }, at);
}

function wordOf(number: number): string {
  const syllables = ['ba', 'ko', 'li', 'mu', 'ne', 'po', 'ra', 'si', 'tu', 've'];
  return [...String(number + 10)].map((digit) => syllables[Number(digit)]).join('');
}

function jidOf(group: number): string {
  return `chat:${1_203_630_000_000 + group * 7}@g.us`;
}

/** The same numbers in every run. */
function randomly(): () => number {
  let state = 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function timed(work: () => unknown): number {
  const before = performance.now();
  work();
  return performance.now() - before;
}
