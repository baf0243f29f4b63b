import { expect, test } from 'vitest';
import { openBill } from './call-bill.ts';
import type { TokenCounts } from './tokens.ts';
import { countUsage } from './usage.ts';

const AT_MOST: TokenCounts = {
  inputTokens: 40,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
  outputTokens: 2_000,
};

function opened({ isStream = true } = {}) {
  const clock = { ms: 0 };
  const closed: (TokenCounts | null)[] = [];
  const bill = openBill(
    { atMost: AT_MOST, isStream },
    (counts) => closed.push(counts),
    () => clock.ms,
  );
  return { bill, clock, closed };
}

test('what was never sent or was refused costs nothing, and a bill is closed once', () => {
  const unsent = opened();
  unsent.bill.close({ isWhole: false });
  unsent.bill.close({ isWhole: false });
  expect(unsent.closed).toEqual([null]);
  const refused = opened();
  refused.bill.sent();
  refused.bill.refused();
  refused.bill.close({ isWhole: false });
  expect(refused.closed).toEqual([null]);
});

test.each([
  [1_000, 100],
  [60_000, 2_000],
])('an answer in one piece that is given up after %i ms costs %i tokens', (ms, outputTokens) => {
  const { bill, clock, closed } = opened({ isStream: false });
  bill.sent();
  clock.ms = ms;
  bill.close({ isWhole: false });
  expect(closed).toEqual([{ ...AT_MOST, outputTokens }]);
});

test('a stream costs what it showed, and what may have been written while nobody read it', () => {
  const { bill, clock, closed } = opened();
  const counter = countUsage(true);
  bill.sent();
  clock.ms = 30_000;
  bill.answered(counter);
  counter.write(Buffer.from('data: {"message":{"usage":{"input_tokens":7,"output_tokens":3}}}\n'));
  void bill.heldUpBy(new Promise(() => {}));
  clock.ms += 5_000;
  bill.close({ isWhole: false });
  expect(closed).toEqual([{ ...AT_MOST, inputTokens: 7, outputTokens: 503 }]);
});

test('a whole answer costs what its server says, however long it was held up', async () => {
  const { bill, clock, closed } = opened();
  const counter = countUsage(true);
  bill.sent();
  bill.answered(counter);
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  const waiting = bill.heldUpBy(taken);
  clock.ms = 60_000;
  resolve();
  await waiting;
  counter.write(Buffer.from('data: {"usage":{"input_tokens":7,"output_tokens":3}}\n'));
  bill.close({ isWhole: true });
  expect(closed).toEqual([{ ...AT_MOST, inputTokens: 7, outputTokens: 3 }]);
});
