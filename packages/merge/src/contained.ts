import { isBinary } from './file.ts';
import type { LineRange } from './lines/changed-lines.ts';
import { type Interned, internLines } from './lines/intern.ts';
import { mapVersions, splitLines, withoutBom } from './lines/lines.ts';
import { isEqual, type Region } from './lines/regions.ts';
import { mergeRegions } from './merge.ts';
import type { TreeFile, Versions } from './tree.ts';

/** How many changes theirs makes, and where ours has them already, by its lines. */
export type ContainedChanges = {
  readonly changes: number;
  readonly contained: readonly LineRange[];
};

/**
 * Finds the changes of theirs that ours contains: it has the same, or the same and more. A change is a run of lines;
 * a merge takes those that are contained once. Lines that were taken out are represented by the line after the gap.
 *
 * Compares by lines alone, and finds nothing in files that are not text.
 */
export function containedChanges(versions: Versions<TreeFile>): ContainedChanges {
  if (Object.values(versions).some(({ bytes }) => isBinary(bytes))) {
    return { changes: 0, contained: [] };
  }
  const lines = mapVersions(versions, ({ bytes }) =>
    withoutBom(splitLines(bytes.toString('latin1'))),
  );
  const texts = internLines(lines);
  const changed = mergeRegions(lines, texts, null).filter((region) => isChanged(region, texts));
  const contained = changed.filter(isContained).map(({ ours }): LineRange => {
    const first = Math.min(ours.start + 1, Math.max(1, lines.ours.length));
    return [first, Math.max(first, ours.end)];
  });
  return { changes: changed.length, contained };
}

function isChanged({ base, theirs }: Region, texts: Interned): boolean {
  const before = texts.base.subarray(base.start, base.end);
  return !isEqual(before, texts.theirs.subarray(theirs.start, theirs.end));
}

/** Of a change that both made, ours is taken where it has all of theirs. */
function isContained({ kind }: Region): boolean {
  return kind === 'both' || kind === 'ours';
}
