import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffLines } from '../diff.ts';
import { markShortestEdits } from '../myers.ts';

const SIZE = 6;
const sequence = fc
  .array(fc.nat(SIZE - 1), { maxLength: 40 })
  .map((numbers) => Int32Array.from(numbers));

test('partners are equal lines, in the order of both texts', () => {
  const law = (a: Int32Array, b: Int32Array) => {
    const pairs = [...diffLines(a, b, SIZE)].flatMap((partner, index) =>
      partner < 0 ? [] : [{ index, partner }],
    );
    for (const { index, partner } of pairs) expect(a[index]).toBe(b[partner]);
    const partners = pairs.map(({ partner }) => partner);
    expect(partners).toEqual([...new Set(partners)].toSorted((one, other) => one - other));
  };
  fc.assert(fc.property(sequence, sequence, law), { numRuns: 1000 });
});

// Pairing unique lines first gives up some pairs on purpose; the search between them must not.
test('between unique lines, no diff pairs more lines', () => {
  const law = (a: Int32Array, b: Int32Array) => {
    const edits = { a, b, isRemoved: new Uint8Array(a.length), isAdded: new Uint8Array(b.length) };
    markShortestEdits(edits, a.length + b.length);
    const paired = edits.isRemoved.filter((mark) => mark === 0).length;
    expect(paired).toBe(longestCommonSubsequence(a, b));
  };
  fc.assert(fc.property(sequence, sequence, law), { numRuns: 500 });
});

test('a unique line is paired before lines that recur', () => {
  const [blank, brace, name] = [0, 1, 2];
  const a = Int32Array.of(blank, brace, blank, brace, name);
  const b = Int32Array.of(name, blank, brace, blank, brace);
  expect([...diffLines(a, b, 3)]).toEqual([-1, -1, -1, -1, 0]);
});

describe('an edit that could stand in several places', () => {
  const [open, body, close] = [0, 1, 2];

  test('stands as far down as it goes', () => {
    const a = Int32Array.of(open, close, body);
    const b = Int32Array.of(open, close, open, close, body);
    expect([...diffLines(a, b, 3)]).toEqual([0, 1, 4]);
  });

  test('stands beside the edit that it replaces', () => {
    const [kept, old, young] = [0, 1, 2];
    const a = Int32Array.of(kept, old, kept, kept);
    const b = Int32Array.of(kept, young, kept);
    expect([...diffLines(a, b, 3)].filter((partner) => partner >= 0)).toEqual([0, 2]);
  });
});

function longestCommonSubsequence(a: Int32Array, b: Int32Array): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const line of a) {
    const next = [0];
    for (const [index, other] of b.entries()) {
      const diagonal = (row[index] ?? 0) + (line === other ? 1 : 0);
      next.push(Math.max(diagonal, row[index + 1] ?? 0, next[index] ?? 0));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
