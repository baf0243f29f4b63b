import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore, type Store } from '../store.ts';
import type { HistoryPlace } from './history.ts';

const JID = 'terminal:main';
let dir: string;
let store: Store;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-history-'));
  store = openStore({ path: join(dir, 'claw.db'), now: 0 });
  for (const channel of ['terminal', 'pigeon']) {
    const jid = `${channel}:main`;
    store.chats.see({ jid, channel, name: channel, isDirect: true }, 0);
    store.groups.registerMain({ jid, name: channel }, 0);
  }
});

afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

function says(text: string, at: number, jid = JID): void {
  const message = { jid, id: `${jid}${text}${at}`, sender: 'ada', senderName: 'Ada' };
  store.messages.add({ ...message, isOwner: true, text, sentAt: 0 }, at);
}

const answers = (text: string, at: number) =>
  store.outbox.add({ messageId: `a${text}${at}`, jid: JID, text }, at);

/** Reads a chat from its end to its beginning. */
function pages(limit: number): string[] {
  const texts: string[] = [];
  let place: HistoryPlace | null = null;
  for (;;) {
    const page = store.history.page(JID, place, limit);
    if (page.length === 0) return texts;
    texts.unshift(...page.map(({ text }) => text));
    const before: { message: number; answer: number } = { ...(place ?? FROM_THE_END) };
    for (const { kind, seq } of page) before[kind] = Math.min(before[kind], seq);
    place = before;
  }
}

const FROM_THE_END = { message: Number.MAX_SAFE_INTEGER, answer: Number.MAX_SAFE_INTEGER };

test('pages of every size together are the whole chat in order, and nothing of another', () => {
  says('elsewhere', 5, 'pigeon:main');
  const said: string[] = [];
  for (let at = 1; at <= 40; at += 1) {
    const text = `${at}`;
    if (at % 3 === 0) answers(text, at);
    else says(text, at);
    said.push(text);
  }
  for (const limit of [1, 2, 7, 40, 100]) expect(pages(limit)).toEqual(said);
});

test('a question stands above the answer of the same moment', () => {
  says('ping', 1);
  answers('pong', 1);
  expect(pages(10)).toEqual(['ping', 'pong']);
});

test('a clock that was set back leaves nothing out', () => {
  for (const [at, index] of [100, 90, 5, 6].map((one, index) => [one, index] as const)) {
    says(`m${index}`, at);
    answers(`a${index}`, at + 1);
  }
  for (const limit of [1, 2, 3, 8]) {
    expect(pages(limit).toSorted()).toEqual(['a0', 'a1', 'a2', 'a3', 'm0', 'm1', 'm2', 'm3']);
  }
});

test('a long text is cut on a page, and whole on demand, in its chat alone', () => {
  const long = 'x'.repeat(50_000);
  says(long, 1);
  const [entry] = store.history.page(JID, null, 10);
  expect(entry).toMatchObject({ kind: 'message', sender: 'Ada', isOwner: true, length: 50_000 });
  expect(entry?.text).toHaveLength(8_000);
  const seq = entry?.seq ?? 0;
  expect(store.history.whole(JID, 'message', seq)).toBe(long);
  expect(store.history.whole('pigeon:main', 'message', seq)).toBeNull();
  expect(store.history.whole(JID, 'answer', seq)).toBeNull();
});

test('a text of megabytes is read once for its beginning, wherever it stands on a page', () => {
  const long = `${'tea é '.repeat(200_000)}end`;
  answers('before', 1);
  answers(long, 2);
  says(long, 3);
  says('after', 4);
  const first = store.history.page(JID, null, 10);
  expect(first.map(({ text, at }) => [text.length, at])).toEqual([
    [6, 1],
    [8_000, 2],
    [8_000, 3],
    [5, 4],
  ]);
  expect(first.map(({ length }) => length)).toEqual([6, long.length, long.length, 5]);
  expect(store.history.page(JID, null, 10)).toEqual(first);
  expect(store.history.page(JID, { message: 2, answer: 3 }, 10)).toEqual(first.slice(0, 3));
  const answer = first[1];
  expect(store.history.whole(JID, 'answer', answer?.seq ?? 0)).toBe(long);
  store.messages.removeOf(JID);
  expect(store.history.page(JID, null, 10)).toEqual([]);
});
