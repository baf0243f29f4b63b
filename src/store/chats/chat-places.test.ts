import { expect, test } from 'vitest';
import { openPlaces } from './chat-places.ts';

function meta() {
  const values = new Map<string, string>();
  return {
    values,
    get: (key: string) => values.get(key) ?? null,
    set: (key: string, value: string) => void values.set(key, value),
    remove: (key: string) => void values.delete(key),
  };
}

test('a chat runs at home until the owner says otherwise, and again afterwards', () => {
  const kept = meta();
  const places = openPlaces(kept, () => 0);
  expect(places.of('family')).toEqual({ machine: null, needs: [] });
  places.set('family', { machine: 'nas', needs: [] });
  places.set('work', { machine: null, needs: ['gpu'] });
  expect(places.of('family').machine).toBe('nas');
  expect(places.of('work').needs).toEqual(['gpu']);
  places.set('family', { machine: null, needs: [] });
  expect([...kept.values.keys()]).toEqual(['place.work']);
});

test('a fencing number is never given twice: not with a clock that stands or goes back, not after a restore', () => {
  let now = 1_000;
  const kept = meta();
  const places = openPlaces(kept, () => now);
  const numbers = [places.nextFence('family'), places.nextFence('family')];
  now = 10;
  numbers.push(places.nextFence('family'));
  expect(numbers).toEqual([1_000, 1_001, 1_002]);
  expect(places.nextFence('work')).toBe(10);
  // The backup is older than the last number.
  kept.values.set('fence.family', '400');
  now = 90_000_000;
  expect(places.nextFence('family')).toBe(90_000_000);
});
