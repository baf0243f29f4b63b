import { expect, test } from 'vitest';
import { z } from 'zod';
import { WORST_INPUTS } from '../testing/worst-inputs.ts';
import { JsonCount, jsonWithin, readJson, USUAL_BOUNDS } from './bounded-json.ts';
import { dictionary, list, text } from './bounded-schema.ts';

const BOUNDS = { maxBytes: 4 * 1_048_576, maxValues: 1_000, maxDepth: 10 };

test('JSON within its bounds is read, here and where it is long by another thread', async () => {
  const value = { a: ['[[[[,,,,{{{{', '"\\"', 1, null], b: { c: 'ü'.repeat(10) } };
  const long = { ...value, d: 'é'.repeat(400_000) };
  for (const each of [value, long]) {
    const read = await readJson(Buffer.from(JSON.stringify(each)), BOUNDS);
    expect(read).toEqual({ kind: 'value', value: each });
  }
  expect(jsonWithin(JSON.stringify(value))).toEqual(value);
});

test('no worst input becomes a value: it has too many values or levels, is too long, or no JSON', async () => {
  for (const [name, make] of Object.entries(WORST_INPUTS)) {
    if (name.startsWith('one long') || name.startsWith('nothing')) continue;
    for (const size of [60_000, 1_200_000, 6_000_000]) {
      const read = await readJson(Buffer.from(make(size)), BOUNDS);
      expect([name, size, read.kind]).toEqual([name, size, 'refused']);
    }
  }
});

test('a text that is longer than its bound is refused, counted in bytes', () => {
  const bounds = { ...USUAL_BOUNDS, maxBytes: 12 };
  expect(jsonWithin('"ééééé"', bounds)).toBe('ééééé');
  expect(jsonWithin('"éééééé"', bounds)).toBeUndefined();
});

test('a list is refused at its first item that does not fit, and beyond its length without a look at the items', () => {
  let looks = 0;
  const item = z.custom((value) => {
    looks += 1;
    return value === 1;
  });
  const { error } = list(item, 1_000_000).safeParse(Array.from({ length: 500_000 }, () => 0));
  expect(error?.issues).toMatchObject([{ path: [0] }]);
  expect(looks).toBe(1);
  expect(list(item, 10).safeParse(Array.from({ length: 500_000 }, () => 1)).success).toBe(false);
  expect(looks).toBe(1);
  expect(list(item).parse([1, 1])).toEqual([1, 1]);
});

test('a dictionary of too many names is refused before its values are looked at; a text has a length', () => {
  let looks = 0;
  const value = z.custom(() => {
    looks += 1;
    return true;
  });
  const names = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`n${at}`, 1]));
  expect(dictionary(value).safeParse(names).success).toBe(false);
  expect(looks).toBe(0);
  expect(dictionary(text()).parse({ a: 'b' })).toEqual({ a: 'b' });
  expect(dictionary(text()).safeParse([]).success).toBe(false);
  expect(text(3).safeParse('abcd').success).toBe(false);
});

test('a text that comes in parts is counted as if it came whole, wherever it is cut', () => {
  const text = Buffer.from(JSON.stringify({ 'a,[{"\\': ['\\"', [1, { b: '[[,' }], 'é\\'] }));
  for (let maxValues = 1; maxValues <= 12; maxValues += 1) {
    const whole = new JsonCount({ maxValues, maxDepth: 3 }).add(text);
    for (let at = 0; at <= text.length; at += 1) {
      const count = new JsonCount({ maxValues, maxDepth: 3 });
      const parts = [count.add(text.subarray(0, at)), count.add(text.subarray(at))];
      expect(parts.find((one) => one !== null) ?? null).toBe(whole);
    }
  }
  expect(new JsonCount({ maxValues: 100, maxDepth: 4 }).add(text)).toBeNull();
});
