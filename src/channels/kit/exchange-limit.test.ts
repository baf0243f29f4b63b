import { expect, test } from 'vitest';
import { openExchangeLimit } from './exchange-limit.ts';
import { frameIn } from './frames.ts';

test('two agents that answer each other are parted after thirty exchanges, for ten minutes; a burst is not', () => {
  let now = 0;
  const notices: string[] = [];
  const owner = { onNotice: (text: string) => void notices.push(text) };
  const limit = openExchangeLimit(() => now);
  let taken = 0;
  while (limit.takes('loop', owner) && taken < 1_000) {
    taken += 1;
    now += 1_000;
    limit.answered('loop');
  }
  expect(taken).toBe(31);
  expect(limit.takes('loop', owner)).toBe(false);
  expect(limit.takes('other', owner)).toBe(true);
  expect(notices).toEqual([expect.stringContaining('at the other end of loop: it answered 30')]);
  now += 600_000;
  expect(limit.takes('loop', owner)).toBe(true);
  for (let count = 0; count < 1_000; count += 1) expect(limit.takes('burst', owner)).toBe(true);
});

test('a frame names its kind, and a message is none', () => {
  expect(frameIn({ frame: 'hello', tools: [] })).toEqual({ frame: 'hello', tools: [] });
  const others = [null, 'hello', 7, [], {}, { frame: 7 }, { frame: 'hello', content: 'hi' }];
  expect(others.map(frameIn)).toEqual(others.map(() => null));
});

test('a frame that is nested without end is none: it could not be printed again', () => {
  const nested = (levels: number): unknown =>
    JSON.parse(`{"frame": "hello", "tools": ${'['.repeat(levels)}${']'.repeat(levels)}}`);
  expect(frameIn(nested(50))).toEqual(nested(50));
  expect(frameIn(nested(100_000))).toBeNull();
});
