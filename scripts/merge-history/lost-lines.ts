import { diffLines } from '../../packages/merge/src/lines/diff.ts';
import type { Versions } from '../../packages/merge/src/versions.ts';

/** A line that one side added and that a merged text does not have. */
export type LostLine = { readonly side: 'ours' | 'theirs'; readonly line: string };

const WORD = /[\p{L}\p{N}_$]+/gu;

/** The lines that a side took out of the base, and those that it added. */
type Change = { readonly removed: readonly string[]; readonly added: readonly string[] };

/**
 * Lists the lines that one side added to the base and whose words a merged text lacks. Space, quotes and the
 * comma or semicolon at the end do not count, nor the place of a word: a line may be laid out anew or joined with
 * the other side's change of the same line. Where only the numbers of a line differ, the line is there with the
 * other side's number.
 *
 * @param merged the whole text; of a conflict both sides
 */
export function lostLines(versions: Versions<string>, merged: string): readonly LostLine[] {
  const base = linesIn(versions.base);
  const changes = {
    ours: changeFrom(base, linesIn(versions.ours)),
    theirs: changeFrom(base, linesIn(versions.theirs)),
  };
  /** Makes a test of what a line is made of: whether less of it is left than both changes leave at least. */
  const lacks = (side: LostLine['side'], partsOf: (line: string) => readonly string[]) => {
    const count = (lines: readonly string[]) => {
      const counts = countsOf(lines.flatMap(partsOf));
      return (part: string) => counts.get(part) ?? 0;
    };
    const [before, after] = [count(base), count(linesIn(merged))];
    const [own, other] = [changes[side], changes[side === 'ours' ? 'theirs' : 'ours']];
    const [removed, added] = [count(own.removed), count(own.added)];
    const [itsRemoved, itsAdded] = [count(other.removed), count(other.added)];
    return (part: string) => {
      // A line that is only laid out anew adds no word, and the other side may have taken it out.
      const more = added(part) - removed(part);
      const left = Math.max(0, before(part) - removed(part) - itsRemoved(part));
      // What both sides add may be the same.
      return more > 0 && after(part) < left + Math.max(added(part), itsAdded(part));
    };
  };
  return (['ours', 'theirs'] as const).flatMap((side) => {
    const lacksLine = lacks(side, (line) => [line]);
    const lacksForm = lacks(side, (line) => [formOf(line)]);
    const lacksWord = lacks(side, wordsIn);
    return [...new Set(changes[side].added)]
      .filter((line) => lacksLine(line) && lacksForm(formOf(line)) && wordsIn(line).some(lacksWord))
      .map((line) => ({ side, line }));
  });
}

function changeFrom(base: readonly string[], side: readonly string[]): Change {
  const numbers = new Map<string, number>();
  const intern = (line: string) => {
    const number = numbers.get(line) ?? numbers.size;
    numbers.set(line, number);
    return number;
  };
  const [before, after] = [Int32Array.from(base, intern), Int32Array.from(side, intern)];
  const partners = diffLines(before, after, numbers.size);
  const kept = new Set(partners);
  return {
    removed: base.filter((_, at) => (partners[at] ?? -1) < 0),
    added: side.filter((_, at) => !kept.has(at)),
  };
}

function countsOf(parts: readonly string[]): ReadonlyMap<string, number> {
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

function formOf(line: string): string {
  return line.replaceAll(/\d+/g, '0');
}

function wordsIn(line: string): readonly string[] {
  return line.match(WORD) ?? [];
}
