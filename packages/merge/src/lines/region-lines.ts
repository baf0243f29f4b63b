import type { Versions } from '../tree.ts';
import type { Region } from './regions.ts';

/** Returns the lines of a region that is not in dispute; of a conflict those of ours. */
export function linesOf(region: Region, lines: Versions<readonly string[]>): readonly string[] {
  if (region.kind === 'resolved') return region.lines;
  const side = region.kind === 'theirs' ? 'theirs' : 'ours';
  return lines[side].slice(region[side].start, region[side].end);
}

/**
 * Tells whether regions are the text of one side, line ends apart, where conflicts are decided for it: then they have
 * no defect that no input has.
 */
export function isSideItself(regions: readonly Region[], name: 'ours' | 'theirs'): boolean {
  const other = name === 'ours' ? 'theirs' : 'ours';
  return regions.every(({ kind }) => kind !== other && kind !== 'resolved');
}
