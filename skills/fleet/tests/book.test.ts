import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FleetBook, type Instance } from '../../../src/lib/fleet/fleet-book.ts';
import { newProblems } from '../../../src/lib/fleet/health.ts';
import { planUpgrade } from '../../../src/lib/fleet/upgrade.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'claw-fleet-book-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function instance(name: string, over: Partial<Instance> = {}): Instance {
  const version = { volume: `${name}-1`, image: 'claw-fleet:old' };
  const rest = { wish: 'running', before: null, idleMinutes: null, wakesAt: null } as const;
  return { name, version, ...rest, ...over };
}

test('a fleet keeps its id and its instances, for its keeper alone', () => {
  const book = new FleetBook(dir);
  const begun = book.read();
  book.write({ ...begun, instances: [instance('mira')] });
  book.change('mira', { wish: 'asleep', wakesAt: 5 });
  const again = new FleetBook(dir);
  expect(again.read()).toMatchObject({ id: begun.id });
  expect(again.instance('mira')).toMatchObject({ wish: 'asleep', wakesAt: 5 });
  expect(statSync(join(dir, 'fleet/fleet.json')).mode & 0o777).toBe(0o600);
  expect(() => again.instance('noah')).toThrow('No instance is called noah');
});

test('a volume is noted as one to be removed before it is made, and no name is given twice', () => {
  const book = new FleetBook(dir);
  book.write({ ...book.read(), instances: [instance('mira')] });
  const [first, second] = [book.newVolume('mira'), book.newVolume('mira')];
  expect(first).not.toBe(second);
  expect(book.read().discarded).toEqual([first, second]);
});

test('a book that was written by hand and is wrong changes nothing and says where', () => {
  const book = new FleetBook(dir);
  const begun = book.read();
  book.write({ ...begun, instances: [instance('mira')] });
  const before = readFileSync(join(dir, 'fleet/fleet.json'), 'utf8');
  const wrong = { ...begun, instances: [instance('Mira!')] };
  expect(() => book.write(wrong)).toThrow('instances');
  expect(readFileSync(join(dir, 'fleet/fleet.json'), 'utf8')).toBe(before);
});

test('two commands do not change a fleet at a time', async () => {
  const book = new FleetBook(dir);
  const order: string[] = [];
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  const first = book.exclusively(0, async () => {
    begin();
    await held;
    order.push('first');
  });
  await began;
  const refused = new FleetBook(dir).exclusively(0, async () => order.push('refused'));
  await expect(refused).rejects.toThrow('Another command works on the fleet');
  const second = new FleetBook(dir).exclusively(60_000, async () => order.push('second'));
  letGo();
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
});

test('an upgrade begins with those that run; those that have the image are left alone', () => {
  const all = [
    instance('ada', { wish: 'asleep' }),
    instance('ben'),
    instance('cleo', { version: { volume: 'c', image: 'claw-fleet:new' } }),
    instance('dan'),
  ];
  const plan = (canary: number, only: readonly string[] = []) =>
    planUpgrade(all, 'claw-fleet:new', { canary, only });
  expect(plan(1)).toEqual({ canaries: ['ben'], rest: ['dan', 'ada'], current: ['cleo'] });
  expect(plan(9)).toEqual({ canaries: ['ben', 'dan', 'ada'], rest: [], current: ['cleo'] });
  expect(plan(1, ['ada'])).toEqual({ canaries: ['ada'], rest: [], current: [] });
});

test('what the doctor found before the upgrade is no fault of it', () => {
  const before = new Map([['model', 'There is no key yet.']]);
  const now = new Map([
    ['model', 'The key is refused.'],
    ['parts', 'A tool is broken.'],
  ]);
  expect(newProblems(before, now)).toEqual(['A tool is broken.']);
  expect(newProblems(now, before)).toEqual([]);
});
