import { expect, test } from 'vitest';
import { openExchangeLimit } from './exchange-limit.ts';
import { frameIn } from './frames.ts';

test('two agents that answer each other are parted after thirty exchanges, for ten minutes; a burst is not', () => {
  let now = 0;
  const limit = openExchangeLimit(() => now);
  let taken = 0;
  while (limit.takes('loop') && taken < 1_000) {
    taken += 1;
    now += 1_000;
    limit.answered('loop');
  }
  expect(taken).toBe(31);
  expect(limit.takes('loop')).toBe(false);
  expect(limit.takes('other')).toBe(true);
  now += 600_000;
  expect(limit.takes('loop')).toBe(true);
  for (let count = 0; count < 1_000; count += 1) expect(limit.takes('burst')).toBe(true);
});

test('a frame names its kind, and a message is none', () => {
  expect(frameIn({ frame: 'hello', tools: [] })).toEqual({ frame: 'hello', tools: [] });
  const others = [null, 'hello', 7, [], {}, { frame: 7 }, { frame: 'hello', content: 'hi' }];
  expect(others.map(frameIn)).toEqual(others.map(() => null));
});
