import type { Versions } from '../tree.ts';
import { partInsertion } from './lines/beside.ts';
import { sideWithAllWords } from './lines/contained-words.ts';
import type { Interned } from './lines/intern.ts';
import { mapVersions, NAMES } from './lines/line-ends.ts';
import { contentOf } from './lines/lines.ts';
import type { Region } from './lines/regions.ts';

/**
 * Resolves all conflicts that are left: those in which one side made every change of the other one, word by word,
 * and insertions beside a changed line. A text with gaps cannot be checked, so it is all or none.
 *
 * @returns null where a conflict is left, or there was none
 */
export function resolveRest(
  regions: readonly Region[],
  texts: Interned,
  lines: Versions<readonly string[]>,
): readonly Region[] | null {
  const resolved: Region[] = [];
  let isAny = false;
  for (const region of regions) {
    if (region.kind !== 'conflict') {
      resolved.push(region);
      continue;
    }
    const parts = takeContained(region, lines) ?? partInsertion(region, texts, lines);
    if (parts === null) return null;
    resolved.push(...parts);
    isAny = true;
  }
  return isAny ? resolved : null;
}

function takeContained(
  region: Region,
  lines: Versions<readonly string[]>,
): readonly Region[] | null {
  const kind = sideWithAllWords(
    mapVersions(NAMES, (name) =>
      lines[name].slice(region[name].start, region[name].end).map(contentOf),
    ),
  );
  if (kind === null) return null;
  const { base, ours, theirs } = region;
  return [{ base, ours, theirs, kind, rule: 'contained' }];
}
