import { expect, test } from 'vitest';
import { Throttle } from './throttle.ts';

const even = () => 0;

function times(throttle: Throttle, chats: readonly string[]): number[] {
  return chats.map((chat) => {
    const at = throttle.waitMs(chat, 0);
    throttle.count(chat, 0);
    return at;
  });
}

test('a chat gets a few messages at once, and then one every so often', () => {
  const none = { burst: 1_000, everyMs: 1 };
  const throttle = new Throttle({ perChat: { burst: 3, everyMs: 1_000 }, overall: none }, even);
  expect(times(throttle, ['a', 'a', 'a', 'a', 'a', 'b'])).toEqual([0, 0, 0, 1_000, 2_000, 0]);
});

test('all chats together are held to a rate as well', () => {
  const none = { burst: 1_000, everyMs: 1 };
  const throttle = new Throttle({ perChat: none, overall: { burst: 2, everyMs: 500 } }, even);
  expect(times(throttle, ['a', 'b', 'c', 'd'])).toEqual([0, 0, 500, 1_000]);
});

test('a pause gives the burst back', () => {
  const rate = { burst: 2, everyMs: 1_000 };
  const throttle = new Throttle({ perChat: rate, overall: rate }, even);
  times(throttle, ['a', 'a', 'a']);
  expect(throttle.waitMs('a', 10_000)).toBe(0);
});

test('pauses vary by chance, up to half as long again; what need not wait does not', () => {
  const rate = { burst: 1, everyMs: 1_000 };
  const throttle = new Throttle({ perChat: rate, overall: rate }, () => 0.5);
  expect(times(throttle, ['a', 'a', 'a'])).toEqual([0, 1_250, 2_500]);
});

test('a clock that is set back lets nobody wait for longer than the rate', () => {
  const rate = { burst: 1, everyMs: 1_000 };
  const throttle = new Throttle({ perChat: rate, overall: rate }, even);
  throttle.count('a', 7_200_000);
  expect(throttle.waitMs('a', 0)).toBe(1_000);
  expect(throttle.waitMs('a', 600)).toBe(400);
});
