import type { Versions } from '../../tree.ts';
import type { Duplicate } from './duplicates.ts';
import { readersOf } from './inspect.ts';
import type { Format } from './language.ts';
import type { SyntaxFault } from './parse.ts';

/** What is wrong with a merged text: it does not parse, or it has names twice that no input had. */
export type Flaw =
  | { readonly kind: 'syntax'; readonly fault: SyntaxFault }
  | { readonly kind: 'duplicates'; readonly duplicates: readonly Duplicate[] };

/** The texts that met; null for an absent one. */
export type Inputs = Versions<string | null>;

/**
 * Finds what a merge has done to texts that can be read; null where nothing is wrong. What an input
 * holds twice may stand twice in the result.
 *
 * @param merged decoded, with line feeds only; so are the inputs
 * @param readInputs called only where the merged text raises a question
 */
export function flawIn(merged: string, format: Format, readInputs: () => Inputs): Flaw | null {
  const readers = readersOf(format);
  const first = readers[0]?.(merged);
  if (first === undefined || (first.fault === null && first.duplicates.length === 0)) return null;
  const { base, ours, theirs } = readInputs();
  for (const read of readers) {
    const sides = [ours, theirs].flatMap((text) => (text === null ? [] : [read(text)]));
    if (sides.some(({ fault }) => fault !== null)) continue;
    const { fault, duplicates } = read(merged);
    if (fault !== null) return { kind: 'syntax', fault };
    const inputs = base === null ? sides : [...sides, read(base)];
    const known = new Set(inputs.flatMap((input) => input.duplicates.map(({ key }) => key)));
    const anew = duplicates.filter(({ key }) => !known.has(key));
    return anew.length === 0 ? null : { kind: 'duplicates', duplicates: anew };
  }
  return null;
}
