import { expect, test } from 'vitest';
import { messages } from '../providers/messages-protocol.ts';
import type { TokenCounts } from '../tokens.ts';
import { openCallMeter } from './call-meter.ts';
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
  const meter = openCallMeter(
    { atMost: AT_MOST, isStream },
    (counts) => closed.push(counts),
    () => clock.ms,
  );
  return { meter, clock, closed };
}

test('a call that was never sent or was refused costs nothing, and a meter is closed once', () => {
  const unsent = opened();
  unsent.meter.close({ isWhole: false });
  unsent.meter.close({ isWhole: false });
  expect(unsent.closed).toEqual([null]);
  const refused = opened();
  refused.meter.sent();
  refused.meter.refused();
  refused.meter.close({ isWhole: false });
  expect(refused.closed).toEqual([null]);
});

test.each([
  [1_000, 100],
  [60_000, 2_000],
])('an answer in one piece that is given up after %i ms costs %i tokens', (ms, outputTokens) => {
  const { meter, clock, closed } = opened({ isStream: false });
  meter.sent();
  clock.ms = ms;
  meter.close({ isWhole: false });
  expect(closed).toEqual([{ ...AT_MOST, outputTokens }]);
});

test('a stream costs what it showed, and what may have been written while nobody read it', () => {
  const { meter, clock, closed } = opened();
  const counter = countUsage(true, messages.countsIn);
  meter.sent();
  clock.ms = 30_000;
  meter.answered(counter);
  counter.write(Buffer.from('data: {"message":{"usage":{"input_tokens":7,"output_tokens":3}}}\n'));
  void meter.pausedDuring(new Promise(() => {}));
  clock.ms += 5_000;
  meter.close({ isWhole: false });
  expect(closed).toEqual([{ ...AT_MOST, inputTokens: 7, outputTokens: 503 }]);
});

test('a whole answer costs what its server says, however long it was held up', async () => {
  const { meter, clock, closed } = opened();
  const counter = countUsage(true, messages.countsIn);
  meter.sent();
  meter.answered(counter);
  const { promise: taken, resolve } = Promise.withResolvers<void>();
  const waiting = meter.pausedDuring(taken);
  clock.ms = 60_000;
  resolve();
  await waiting;
  counter.write(Buffer.from('data: {"usage":{"input_tokens":7,"output_tokens":3}}\n'));
  meter.close({ isWhole: true });
  expect(closed).toEqual([{ ...AT_MOST, inputTokens: 7, outputTokens: 3 }]);
});
