import type { Versions } from '../../tree.ts';
import { mapVersions, NAMES } from '../lines/line-ends.ts';
import type { Range } from '../lines/regions.ts';

/** Characters that layout may change: space, quotes, separators, and the escapes of quotes. */
const LAYOUT = /[\s'"`,;\\]+/g;

/**
 * Tells whether layout or syntax may resolve a conflict: one side only changed the layout of the base, both
 * say the same, or both only inserted. Compares letters, which spares most conflicts the parser.
 */
export function mayBeSolved(region: Versions<Range>, lines: Versions<readonly string[]>): boolean {
  const { base, ours, theirs } = mapVersions(NAMES, (name) =>
    lines[name].slice(region[name].start, region[name].end).join('').replaceAll(LAYOUT, ''),
  );
  if (ours === theirs || ours === base || theirs === base) return true;
  return isWithin(base, ours) && isWithin(base, theirs);
}

/** Tells whether a text is another one with something put in. */
function isWithin(text: string, longer: string): boolean {
  let found = 0;
  for (let index = 0; index < longer.length && found < text.length; index++) {
    if (longer[index] === text[found]) found++;
  }
  return found === text.length;
}
