import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openStore, type Store } from './store.ts';

const DAY = '2026-11-21';
const CHARGE = {
  day: DAY,
  folder: 'family',
  model: 'm',
  inputTokens: 1,
  cacheWriteTokens: 20,
  cacheReadTokens: 300,
  outputTokens: 4_000,
  microUsd: 7,
};

let dir: string;
let store: Store;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-usage-'));
  store = openStore({ path: join(dir, 'claw.db'), now: 1 });
});
afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

test('a folder’s calls of a day are one sum, whatever the model and the case of its name', () => {
  for (let call = 0; call < 3; call++) store.usage.add(CHARGE);
  store.usage.add({ ...CHARGE, folder: 'Family', model: 'other', microUsd: null });
  store.usage.add({ ...CHARGE, day: '2026-11-22' });
  store.usage.add({ ...CHARGE, folder: 'club', microUsd: 100 });
  const family = { tokens: 4 * 4_321, microUsd: 21, unpricedCalls: 1 };
  expect(store.usage.of('family', DAY)).toEqual(family);
  expect(store.usage.total(DAY)).toEqual({ tokens: 5 * 4_321, microUsd: 121, unpricedCalls: 1 });
  expect(store.usage.byFolder(DAY).map(({ folder }) => folder)).toEqual(['club', 'family']);
  expect(store.usage.total('2026-11-23')).toEqual({ tokens: 0, microUsd: 0, unpricedCalls: 0 });
});

test('a thousand dear calls add up to the last millionth', () => {
  const microUsd = 900_719_925_474;
  for (let call = 0; call < 1_000; call++) store.usage.add({ ...CHARGE, microUsd });
  expect(store.usage.of('family', DAY).microUsd).toBe(900_719_925_474_000);
});

test('a deleted group takes its name, its budget and its notices along, and leaves its sums', () => {
  store.usage.add(CHARGE);
  store.usage.add({ ...CHARGE, folder: 'club' });
  store.budgets.set('family', { microUsd: 1, tokens: null });
  expect(store.budgets.notice('family', DAY, 'near')).toBe(true);
  expect(store.budgets.notice('family', DAY, 'near')).toBe(false);
  store.folders.forget('family');
  store.folders.forget('club');
  expect(store.usage.of('family', DAY).tokens).toBe(0);
  expect(store.usage.byFolder(DAY)).toMatchObject([{ folder: '(deleted)', microUsd: 14 }]);
  expect(store.budgets.of('family')).toBeNull();
  expect(store.budgets.notice('family', DAY, 'near')).toBe(true);
});
