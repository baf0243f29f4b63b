import { beginningOf } from '../../lib/graphemes.ts';

const MAX_LENGTH = 100;

/**
 * Returns a name that people chose, on one line and without invisible characters: in
 * a list it must not pass for the next entry.
 */
export function plainName(name: string | null): string | null {
  const plain = (name ?? '')
    .replace(/[\p{Cc}\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return plain === '' ? null : beginningOf(plain, MAX_LENGTH);
}
