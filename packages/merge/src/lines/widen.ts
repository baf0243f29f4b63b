import type { Versions } from '../tree.ts';
import { mapVersions, NAMES } from './line-ends.ts';
import type { Region } from './regions.ts';

/** The lines at which something begins or ends, in each version. */
export type Borders = Versions<Pick<ReadonlySet<number>, 'has'>>;

/** A stretch with some of the agreed lines above and below it. */
export type Stretch = { readonly region: Region; readonly up: number; readonly down: number };

/** Lines that a stretch may gain at either end. */
const MAX_WIDENED = 40;
/** Borders that are tried at either end. */
const MAX_TRIED = 3;

/**
 * Lists a conflict as it is, then with agreed lines around it, so that it begins and ends at borders in all
 * versions: alignment by lines cuts where lines are equal, which can be within what belongs together.
 */
export function* stretchesAround(
  regions: readonly Region[],
  index: number,
  readBorders: () => Borders,
): Iterable<Stretch> {
  const region = regions[index];
  if (region === undefined) return;
  yield { region, up: 0, down: 0 };
  const borders = readBorders();
  const reaches = (step: 1 | -1, edge: 'start' | 'end') => {
    const beside = regions[index + step];
    const limit = beside?.kind === 'all' ? beside.base.end - beside.base.start : 0;
    const found: number[] = [];
    for (let moved = 0; moved <= Math.min(limit, MAX_WIDENED); moved++) {
      const isBorder = (name: keyof Borders) =>
        borders[name].has(region[name][edge] + step * moved);
      if (isBorder('base') && isBorder('ours') && isBorder('theirs')) found.push(moved);
      if (found.length >= MAX_TRIED) break;
    }
    return found;
  };
  const downs = reaches(1, 'end');
  for (const up of reaches(-1, 'start')) {
    for (const down of downs)
      if (up + down > 0) yield { region: widen(region, up, down), up, down };
  }
}

/** Puts a stretch in the place of the conflict it was made of, and takes its lines from the regions around. */
export function takeStretch(regions: Region[], index: number, { region, up, down }: Stretch): void {
  const [before, after] = [regions[index - 1], regions[index + 1]];
  regions[index] = region;
  if (before !== undefined && up > 0) regions[index - 1] = widen(before, 0, -up);
  if (after !== undefined && down > 0) regions[index + 1] = widen(after, -down, 0);
}

function widen(region: Region, up: number, down: number): Region {
  const ranges = mapVersions(NAMES, (name) => {
    return { start: region[name].start - up, end: region[name].end + down };
  });
  return { ...region, ...ranges };
}
