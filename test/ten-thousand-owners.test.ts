import { expect, test } from 'vitest';
import { COSTS, HABITS, MACHINE, simulateOwners } from '../scripts/ten-thousand-owners.ts';

const STOPPED = { stopAfterS: 900 };
const few = (options: Partial<Parameters<typeof simulateOwners>[0]> = {}) =>
  simulateOwners({ owners: 300, seed: 7, policy: STOPPED, ...options });

test('the same seed gives the same day, and another seed another day', () => {
  expect(few()).toEqual(few());
  expect(few({ seed: 8 }).messages).not.toBe(few().messages);
});

test('owners who are always on need their memory, and are never started', () => {
  const day = few({ policy: { stopAfterS: null } });
  expect(day).toMatchObject({ peakRunning: 300, averageRunning: 300, starts: 0 });
  expect(day.peakMemoryGb).toBeGreaterThanOrEqual((300 * COSTS.idleMb) / 1_024);
  expect(day.bottleneck).toBe('memory');
});

test('stopping idle instances saves memory, as far as their channels can wake them', () => {
  const always = few({ policy: { stopAfterS: null } });
  const some = few();
  const all = few({ habits: { ...HABITS, alwaysOn: 0 } });
  expect(some.averageRunning).toBeLessThan(always.averageRunning);
  expect(all.averageRunning).toBeLessThan(some.averageRunning);
  expect(some.averageRunning).toBeGreaterThan(300 * HABITS.alwaysOn * 0.8);
  expect(all.euroAnIdleOwnerAMonth).toBeLessThan(always.euroAnIdleOwnerAMonth);
});

test('tasks at the same moment make starts wait for a core; spread, they do not', () => {
  const habits = { ...HABITS, morningTask: 1, alwaysOn: 0 };
  const storm = few({ owners: 1_000, habits });
  const spread = few({ owners: 1_000, habits: { ...habits, morningSpreadS: 3_600 } });
  expect(storm.wakeS.worst).toBeGreaterThan(spread.wakeS.worst);
  expect(storm.machines.processor).toBeGreaterThan(spread.machines.processor);
  expect(storm.wakeS.p99).toBeLessThanOrEqual(15);
});

test('without a cost in memory something else runs out first', () => {
  const costs = { ...COSTS, idleMb: 0, agentMb: 0 };
  expect(few({ costs, machine: { ...MACHINE, cores: 1 } }).bottleneck).toBe('processor');
  const heavy = few({ habits: { ...HABITS, filesMb: 20_000 } });
  expect(heavy.bottleneck).toBe('disk');
});
