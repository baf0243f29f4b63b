import type { Versions } from '../../src/engine/tree.ts';

/** A line that one side added and that a merged text does not have. */
export type LostLine = { readonly side: 'ours' | 'theirs'; readonly line: string };

const WORD = /[\p{L}\p{N}_$]+/gu;

/**
 * Lists the lines that one side added to the base and whose words a merged text lacks. Space, quotes and the
 * comma or semicolon at the end do not count, nor the place of a word: a line may be laid out anew or joined with
 * the other side's change of the same line. Where only the numbers of a line differ, the line is there with the
 * other side's number.
 *
 * @param merged the whole text; of a conflict both sides
 */
export function lostLines(versions: Versions<string>, merged: string): readonly LostLine[] {
  return [
    ...lostFrom('ours', versions, merged),
    ...lostFrom('theirs', { ...versions, ours: versions.theirs, theirs: versions.ours }, merged),
  ];
}

function lostFrom(
  side: LostLine['side'],
  { base, ours: own, theirs: other }: Versions<string>,
  merged: string,
): readonly LostLine[] {
  const lacks = (parts: (text: string) => readonly string[]) => {
    const [before, mine, its, after] = [base, own, other, merged].map((text) =>
      counted(parts(text)),
    );
    return (part: string) => {
      const count = (some: ReadonlyMap<string, number> | undefined) => some?.get(part) ?? 0;
      // What the other side took out is not due any more.
      const due = count(mine) - Math.max(0, count(before) - count(its));
      return count(mine) > count(before) && count(after) < due;
    };
  };
  const [lacksLine, lacksForm, lacksWord] = [lacks(linesIn), lacks(formsIn), lacks(wordsIn)];
  return [...new Set(linesIn(own))]
    .filter((line) => lacksLine(line) && lacksForm(formOf(line)) && wordsIn(line).some(lacksWord))
    .map((line) => ({ side, line }));
}

function counted(parts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1);
  return counts;
}

function linesIn(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) =>
      line.replaceAll(/\s+/g, ' ').trim().replaceAll(/['`]/g, '"').replace(/[,;]$/, ''),
    );
}

function formsIn(text: string): readonly string[] {
  return linesIn(text).map(formOf);
}

function formOf(line: string): string {
  return line.replaceAll(/\d+/g, '0');
}

function wordsIn(text: string): readonly string[] {
  return text.match(WORD) ?? [];
}
