import type { Versions } from '../../tree.ts';
import { contentOf } from './lines.ts';

/** Three texts as numbers: equal numbers for lines of equal content, all below `size`. */
export type Interned = Versions<Int32Array> & {
  readonly size: number;
  /** The number of each content. */
  readonly numbers: ReadonlyMap<string, number>;
};

/**
 * Numbers the lines of all three versions, so that comparing lines is comparing numbers.
 *
 * Line ends do not count: they are merged apart from the words.
 */
export function internLines({ base, ours, theirs }: Versions<readonly string[]>): Interned {
  const numbers = new Map<string, number>();
  const intern = (line: string) => {
    const content = contentOf(line);
    const known = numbers.get(content);
    if (known !== undefined) return known;
    numbers.set(content, numbers.size);
    return numbers.size - 1;
  };
  return {
    base: Int32Array.from(base, intern),
    ours: Int32Array.from(ours, intern),
    theirs: Int32Array.from(theirs, intern),
    size: numbers.size,
    numbers,
  };
}
