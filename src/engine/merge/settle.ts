import type { Versions } from '../tree.ts';
import { mayClash } from './clash.ts';
import { disputeFlaw } from './doubts.ts';
import { mapVersions } from './line-ends.ts';
import { linesOf } from './region-lines.ts';
import type { Region } from './regions.ts';
import { type Format, isLanguage } from './syntax/language.ts';
import { settleConflicts } from './syntax/levels.ts';
import { decodeLines, readSides } from './syntax/side.ts';
import { type Flaw, flawIn } from './syntax/sound.ts';

/** Longer texts are merged by lines alone: no input is slow. */
const MAX_LENGTH = 1 << 18;
/** Texts with more conflicts than this have little in common. */
const MAX_CONFLICTS = 1000;

type Lines = Versions<readonly string[]>;

/**
 * Settles by layout and syntax what a merge by lines left open, and reopens what it should have:
 * where a result would say a name twice, or no longer parse although both sides do.
 *
 * Regions that it has no answer for come back as they are.
 */
export function settleRegions(
  regions: readonly Region[],
  lines: Lines,
  format: Format,
): readonly Region[] {
  if (Object.values(lines).some((side) => lengthOf(side) > MAX_LENGTH)) return regions;
  const conflicts = regions.filter(isConflict).length;
  if (conflicts > MAX_CONFLICTS) return regions;
  const isDoubtful = mayClash(regions, lines, format);
  if (conflicts > 0 && isLanguage(format)) {
    const settled = settleConflicts(regions, readSides(lines, format), format);
    const isSettled = settled.some(({ kind }) => kind === 'settled');
    const isOpen = settled.some(isConflict);
    if (isSettled && isOpen && !isDoubtful) return settled;
    if (isSettled && reopen(settled, lines, format) === settled) return settled;
  }
  return isDoubtful ? reopen(regions, lines, format) : regions;
}

/** The regions, in dispute where a flaw was brought in, whichever side conflicts are decided for. */
function reopen(regions: readonly Region[], lines: Lines, format: Format): readonly Region[] {
  let reopened = regions;
  for (const side of ['ours', 'theirs'] as const) {
    const isOpen = reopened.some(isConflict);
    if (side === 'theirs' && !isOpen) break;
    const filled = reopened.map(
      (region): Region => (isConflict(region) ? { ...region, kind: side } : region),
    );
    const flaw = flawOf(filled, lines, format);
    // Where a side of a conflict does not fit the lines around it, other words for it may.
    if (flaw === null || (flaw.kind === 'syntax' && isOpen)) continue;
    reopened = disputeFlaw(flaw, { regions: reopened, filled, lines });
  }
  return reopened;
}

function flawOf(regions: readonly Region[], lines: Lines, format: Format): Flaw | null {
  const merged = decodeLines(regions.flatMap((region) => linesOf(region, lines)));
  return flawIn(merged, format, () => mapVersions(lines, decodeLines));
}

function isConflict({ kind }: Region): boolean {
  return kind === 'conflict';
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((length, line) => length + line.length, 0);
}
