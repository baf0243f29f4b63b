import type { TreeFile, Versions } from '../../tree.ts';
import { formatOf } from '../language.ts';
import { createDefectFinder, type Defect } from './validate.ts';

/** Names beyond these are only counted. */
const MAX_TOLD = 3;

/** A name that occurs twice, and its lines, counted from 1. */
type Twice = { readonly name: string; readonly lines: readonly number[] };

/** A defect of a merged file, and the line to look at, counted from 1. */
export type TextFault =
  | { readonly kind: 'syntax'; readonly line: number; readonly reason: string }
  | { readonly kind: 'twice'; readonly line: number; readonly names: readonly Twice[] };

/** Finds a defect that a merged file has and its inputs do not; null where there is none. */
export type FindFault = (merged: TreeFile) => TextFault | null;

/**
 * Creates a finder of faults of merged files: a syntax error that both sides do not have, or a name that is declared
 * twice although no input does. It finds nothing where the format is not known. The inputs are read at most once.
 *
 * Files with comments in their JSON are measured by their sides.
 *
 * @param path its extension tells the format
 */
export function createFaultFinder(path: string, inputs: Versions<TreeFile | null>): FindFault {
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

/** Says a fault as the end of a sentence about its file. */
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
