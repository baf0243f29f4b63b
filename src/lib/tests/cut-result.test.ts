import { expect, test } from 'vitest';
import { cutResult } from '../cut-text.ts';

test('a result is cut by its type: a text has a suffix, a list a count, an object its JSON', () => {
  expect(cutResult('x'.repeat(70_000))).toMatch(/^x{65000,}\n\[cut at 64 KB of 70000 bytes\]$/);
  const list = Array.from({ length: 5_000 }, (_, at) => ({ at, name: `entry ${at}` }));
  const cut = cutResult(list) as readonly unknown[];
  expect(cut[0]).toEqual(list[0]);
  expect(cut.at(-1)).toEqual({ _truncated: true, _shown: cut.length - 1, _total: 5_000 });
  expect(cutResult({ text: '"'.repeat(70_000) })).toEqual({
    _truncated_json: expect.stringMatching(/^\{"text":/),
    _bytes: 140_011,
  });
  for (const value of [list, { a: '"'.repeat(70_000) }, 'é'.repeat(70_000)]) {
    expect(Buffer.byteLength(JSON.stringify(cutResult(value)))).toBeLessThanOrEqual(65_700);
  }
  expect(cutResult(list.slice(0, 3))).toEqual(list.slice(0, 3));
});
