import type { Versions } from '../../tree.ts';
import type { Format } from '../language.ts';
import { type Parse, parseSyntax, readOnce, type SyntaxFault, syntaxFault } from '../parse.ts';
import type { Duplicate } from './duplicates.ts';
import { type FindFault, type Reader, readersOf } from './inspect.ts';

/** A defect of a merged text: it does not parse, or it has names twice that no input had twice. */
export type Defect =
  | { readonly kind: 'syntax'; readonly fault: SyntaxFault }
  | { readonly kind: 'duplicates'; readonly duplicates: readonly Duplicate[] };

/** The texts that met; null for an absent one. */
export type Inputs = Versions<string | null>;

/** The strictest way in which both sides can be read, by its number, and what the inputs have twice. */
type Measure = { readonly reader: number; readonly known: ReadonlySet<string> };

/**
 * Creates a finder of defects that a merge caused in readable texts; it returns null where there are none. A
 * name that an input has twice may occur twice in the result.
 *
 * All texts are decoded, with line feeds only.
 *
 * @param parse may cache what it has read
 * @param findFault reads once more a text that does not parse, for who wants the reason
 * @param readInputs called only where a merged text raises a question, until it returns them; null where they are too
 *   much to read, which then leaves it open
 */
export function createDefectFinder(
  format: Format,
  readInputs: () => Inputs | null,
  parse: Parse = parseSyntax,
  findFault: FindFault = syntaxFault,
): (merged: string) => Defect | null {
  const readers = readersOf(format, parse, findFault);
  const readersOfInputs = readers.map(readOnce);
  let inputs: Inputs | null = null;
  let measure: Measure | null | undefined;
  return (merged) => {
    const first = readers[0]?.(merged);
    if (first === undefined || (first.fault === null && first.duplicates.length === 0)) return null;
    inputs ??= readInputs();
    if (inputs === null) return null;
    // What one side has twice is mostly all that the merged text has: then no other input needs to be read.
    if (first.fault === null && inputs.ours !== null) {
      const mine = readersOfInputs[0]?.(inputs.ours);
      if (mine?.fault === null && isAmong(first.duplicates, mine.duplicates)) return null;
    }
    if (measure === undefined) measure = measureOf(inputs, readersOfInputs);
    if (measure === null) return null;
    const { reader, known } = measure;
    const { fault, duplicates } = reader === 0 ? first : (readers[reader]?.(merged) ?? first);
    if (fault !== null) return { kind: 'syntax', fault };
    const anew = duplicates.filter(({ key }) => !known.has(key));
    return anew.length === 0 ? null : { kind: 'duplicates', duplicates: anew };
  };
}

function isAmong(some: readonly Duplicate[], others: readonly Duplicate[]): boolean {
  const known = new Set(others.map(({ key }) => key));
  return some.every(({ key }) => known.has(key));
}

function measureOf({ base, ours, theirs }: Inputs, readers: readonly Reader[]): Measure | null {
  for (const [reader, read] of readers.entries()) {
    const sides = [ours, theirs].flatMap((text) => (text === null ? [] : [read(text)]));
    if (sides.some(({ fault }) => fault !== null)) continue;
    const inputs = base === null ? sides : [...sides, read(base)];
    return {
      reader,
      known: new Set(inputs.flatMap(({ duplicates }) => duplicates.map(({ key }) => key))),
    };
  }
  return null;
}
