import { expect, test } from 'vitest';
import { benchIdle } from '../scripts/bench/idle.ts';
import { benchWarm } from '../scripts/bench/warm.ts';
import { describeWithEngine } from '../src/testing/engine.ts';

// Both lay out code of their own beside the product's, which no compiler holds together.
await describeWithEngine('docker', 'the measurements that no compiler checks still run', () => {
  test('a warm container', async () => {
    expect((await benchWarm(1))?.samples).toBe(1);
  });

  test('idling', async () => {
    expect((await benchIdle(1))?.processes).toHaveLength(2);
  });
});
