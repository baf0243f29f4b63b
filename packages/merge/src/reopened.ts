import { checkPlaces } from './checks/misplaced.ts';
import { joinRepeats } from './checks/repeats.ts';
import { disputeStrays } from './checks/strays.ts';
import { disputeTwins } from './checks/twins.ts';
import { internLines } from './lines/intern.ts';
import { mapVersions, withoutBom } from './lines/lines.ts';
import { alignRegions, type Region } from './lines/regions.ts';
import type { Format } from './syntax/language.ts';
import { memoizeParse } from './syntax/parse.ts';
import type { Versions } from './tree.ts';

/** A reason for asking about changes of different lines: a block there twice, or an edit gone elsewhere. */
export type Reopening = 'repeated' | 'misplaced';

/**
 * Finds out why a merge in which no line is disputed is a conflict all the same. Names declared twice and
 * texts that do not parse are told by `mergeFault`.
 *
 * @param format null for a text that is merged by lines alone
 * @returns null where lines are disputed, or none of these checks has a doubt
 */
export function reopeningOf(
  versions: Versions<readonly string[]>,
  format: Format | null,
): Reopening | null {
  const lines = mapVersions(versions, withoutBom);
  const texts = internLines(lines);
  const aligned = alignRegions(texts);
  if (isOpen(aligned)) return null;
  const joined = disputeTwins(joinRepeats(aligned, texts), { texts, lines, format });
  if (isOpen(joined)) return 'repeated';
  const regions = disputeStrays(joined, texts, lines);
  if (isOpen(regions)) return 'misplaced';
  if (format === null) return null;
  const checked = checkPlaces(texts, lines, format, memoizeParse())(regions);
  return isOpen(checked) ? 'misplaced' : null;
}

function isOpen(regions: readonly Region[]): boolean {
  return regions.some(({ kind }) => kind === 'conflict');
}
