import { expect } from 'vitest';
import type { Bench } from '../bench.ts';

/** Expects words that an owner can do something with: a sentence, and no object or stack that was printed. */
export function expectSentence(bench: Bench, detail: string | null): void {
  const { name } = bench.subject;
  expect(detail, `${name} says what is wrong`).not.toBeNull();
  expect(detail, `${name} says it in a sentence`).toMatch(/^\S.{8,}[.!)`]$/s);
  expect(detail).not.toMatch(/\[object|undefined|\bnull\b|\n\s+at /);
}
