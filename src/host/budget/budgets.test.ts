import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSettings } from '../../config.ts';
import { openStore, type Store } from '../../store/store.ts';
import { testModel } from '../../testing/model/test-model.ts';
import { cents, DOLLAR_A_MILLION } from '../../testing/turn/spender.ts';
import { type Budgets, openBudgets } from './budgets.ts';

let dir: string;
let store: Store;
let budgets: Budgets;
const errors: string[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-budgets-'));
  store = openStore({ path: join(dir, 'claw.db'), now: 1 });
  errors.length = 0;
  budgets = openBudgets({
    store,
    settings: readSettings({ ...DOLLAR_A_MILLION, BUDGET_USD: '1' }, dir),
    now: () => Date.parse('2026-11-21T12:00:00Z'),
    newId: () => 'id',
    timeZone: 'UTC',
    log: { info() {}, warn() {}, error: (message) => void errors.push(message) },
    queue() {},
    onQueued() {},
  });
});
afterEach(() => {
  store.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A call at a dollar for a million tokens. */
function call(amount: number) {
  const priceOf = () => ({ input: 1_000_000, output: 0, cacheWrite: 0, cacheRead: 0 });
  return { model: { ...testModel(), priceOf }, atMost: cents(amount) };
}

const forever = () => new AbortController().signal;

test('spending that cannot be written still counts, as long as the process lives', async () => {
  const other = new Database(join(dir, 'claw.db'));
  other.exec(
    "CREATE TRIGGER no_room BEFORE INSERT ON usage BEGIN SELECT RAISE(ABORT, 'no room'); END",
  );
  other.close();
  const admission = await budgets.admit('family', call(10), forever());
  if (admission.kind === 'admitted') admission.charge(cents(100));
  expect(errors).toEqual(['what was spent could not be written']);
  expect(store.usage.total('2026-11-21').microUsd).toBe(0);
  expect(budgets.isUsedUp('family')).toBe(true);
  expect((await budgets.admit('family', call(1), forever())).kind).toBe('refused');
  expect(budgets.isUsedUp('club')).toBe(false);
});

test('work that is no call of a model is charged by its name, until nothing is left', () => {
  const day = '2026-11-21';
  expect(budgets.pay('family', { name: 'voice', microUsd: 999_999 })).toBe(true);
  expect(budgets.pay('family', { name: 'voice', microUsd: 1 })).toBe(true);
  expect(budgets.pay('family', { name: 'voice', microUsd: 1 })).toBe(false);
  expect(budgets.pay('family', { name: 'voice', microUsd: 0 })).toBe(true);
  expect(budgets.pay('club', { name: 'voice', microUsd: 1 })).toBe(true);
  expect(store.usage.of('family', day)).toEqual({
    tokens: 0,
    microUsd: 1_000_000,
    unpricedCalls: 0,
  });
  expect(store.usage.byModel(day, 'family')).toMatchObject([{ model: 'voice', calls: 2 }]);
});

test('a call that waits for others goes on when the owner allows more, or when nobody waits', async () => {
  const first = await budgets.admit('family', call(150), forever());
  const gone = new AbortController();
  const waiting = [
    budgets.admit('family', call(1), forever()),
    budgets.admit('family', call(1), gone.signal),
  ];
  const others = await budgets.admit('club', call(1), forever());
  expect([first.kind, others.kind]).toEqual(['admitted', 'admitted']);
  gone.abort();
  expect((await waiting[1])?.kind).toBe('refused');
  budgets.set('family', { microUsd: 2_000_000, tokens: null });
  expect((await waiting[0])?.kind).toBe('admitted');
});
