import type { TreeFile, Versions } from '../../versions.ts';
import { type Format, formatOf } from '../language.ts';
import { type Parse, parseSyntax, readOnce, type SyntaxFault, syntaxFault } from '../parse.ts';
import type { Duplicate } from './duplicate-names.ts';
import { type FindFault, type Reader, readersOf } from './inspect-text.ts';

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

/** Names beyond these are only counted. */
const MAX_TOLD = 3;

/** A name that occurs twice, and its lines, counted from 1. */
export type RepeatedName = { readonly name: string; readonly lines: readonly number[] };

/** A defect of a merged file, and the line to look at, counted from 1. */
export type TextFault =
  | { readonly kind: 'syntax'; readonly line: number; readonly reason: string }
  | { readonly kind: 'twice'; readonly line: number; readonly names: readonly RepeatedName[] };

/** Finds a defect that a merged file has and its inputs do not; null where there is none. */
export type FindTextFault = (merged: TreeFile) => TextFault | null;

/**
 * Creates a finder of faults of merged files: a syntax error that both sides do not have, or a name that is declared
 * twice although no input does. It finds nothing where the format is not known. The inputs are read at most once.
 *
 * Files with comments in their JSON are measured by their sides.
 *
 * @param path its extension tells the format
 */
export function createFaultFinder(path: string, inputs: Versions<TreeFile | null>): FindTextFault {
  const format = formatOf(path);
  if (format === null) return () => null;
  const { base, ours, theirs } = inputs;
  const sides = { ours: ours && textOf(ours), theirs: theirs && textOf(theirs) };
  const findDefect = createDefectFinder(format, () => ({ base: base && textOf(base), ...sides }));
  return (merged) => {
    const text = textOf(merged);
    // What is wrong with a side is nothing that the merge brought in, so a side is not read.
    if (text === sides.ours || text === sides.theirs) return null;
    const defect = findDefect(text);
    return defect === null ? null : faultOf(defect, text);
  };
}

/** Finds a fault of one merged file. */
export function mergeFault(
  path: string,
  merged: TreeFile,
  inputs: Versions<TreeFile | null>,
): TextFault | null {
  return createFaultFinder(path, inputs)(merged);
}

/** Describes a fault as the end of a sentence about its file. */
export function tellFault(fault: TextFault): string {
  if (fault.kind === 'syntax') {
    return `does not parse, line ${fault.line}: ${fault.reason.replace(/\.$/, '')}`;
  }
  const list = (words: readonly (string | number)[]) =>
    new Intl.ListFormat('en').format(words.map(String));
  const named = fault.names.map(({ name, lines }) => `\`${name}\` (lines ${list(lines)})`);
  const more = named.length - MAX_TOLD;
  return `has twice ${list(more > 0 ? [...named.slice(0, MAX_TOLD), `${more} more`] : named)}`;
}

function faultOf(defect: Defect, text: string): TextFault | null {
  if (defect.kind === 'syntax') return { kind: 'syntax', ...defect.fault };
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const names = new Map<string, readonly number[]>();
  for (const { name, places } of defect.duplicates) {
    const lines = [...(names.get(name) ?? []), ...places.map(lineAt)];
    names.set(
      name,
      [...new Set(lines)].toSorted((one, other) => one - other),
    );
  }
  const twice = [...names].map(([name, lines]) => ({ name, lines }));
  const line = twice[0]?.lines.at(-1) ?? 1;
  return { kind: 'twice', line, names: twice };
}

function textOf({ bytes }: TreeFile): string {
  return bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n');
}
